import { LATEST_DELIVERIES, type SaidDelivery, type SaidRequest } from '../../../inbox/delivery.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

type Asked = { installationId: string; events: string; jobId: number; above: number; limit: number };

const SAID = `
  SELECT d.id, d.received_at AS receivedAt, d.event, d.digest, t.signed_data AS signedData
  FROM deliveries AS d JOIN signed_texts AS t ON t.id = d.text_id
  WHERE d.id > (SELECT max(max(id) - ${LATEST_DELIVERIES}, CASE WHEN @above > max(id) THEN 0 ELSE @above END) FROM deliveries)
    AND d.installation_id = @installationId AND d.verdict = 'accepted' AND d.job_id <= @jobId
    AND d.event IN (SELECT value FROM json_each(@events)) AND t.signed_data <> ''
  ORDER BY d.id LIMIT @limit`;

export function createSaid(db: Sqlite): (request: SaidRequest) => SaidDelivery[] {
  const said = statement<Asked, SaidDelivery>(db, SAID);
  return ({ events, ...request }) => said.all({ ...request, events: JSON.stringify(events) });
}
