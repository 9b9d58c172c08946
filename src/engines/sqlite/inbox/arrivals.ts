import {
  ANNOUNCED_SLICE,
  type CameRow,
  FOLDED_WITHIN_MS,
  LATEST_DELIVERIES,
  type SaidDelivery,
  sliceOf,
} from '../../../inbox/delivery.js';
import { answersFrom } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

type Arrivals = Pick<InboxPort, 'newestDelivery' | 'said' | 'haveCome' | 'announced'>;
type Asked = { installationId: string; event: string | null; begun: string; since: string; now: string };
type AskedToSay = { installationId: string; events: string; jobId: number; above: number; limit: number };

const NEWEST = `
  SELECT id FROM deliveries
  WHERE id > (SELECT max(id) FROM deliveries) - ${LATEST_DELIVERIES}
    AND installation_id = @installationId AND verdict = 'accepted' AND job_id BETWEEN @from AND @to
  ORDER BY id DESC LIMIT 1`;

const SAID = `
  SELECT d.id, d.received_at AS receivedAt, d.event, d.digest, t.signed_data AS signedData
  FROM deliveries AS d JOIN signed_texts AS t ON t.id = d.text_id
  WHERE d.id > (SELECT max(max(id) - ${LATEST_DELIVERIES}, CASE WHEN @above > max(id) THEN 0 ELSE @above END) FROM deliveries)
    AND d.installation_id = @installationId AND d.verdict = 'accepted' AND d.job_id <= @jobId
    AND d.event IN (SELECT value FROM json_each(@events)) AND t.signed_data <> ''
  ORDER BY d.id LIMIT @limit`;

/** By the index of arrival. */
const CAME = `
  SELECT EXISTS (SELECT 1 FROM deliveries
    WHERE installation_id = @installationId AND verdict = 'accepted'
      AND received_at BETWEEN @begun AND @now
      AND coalesce(last_received_at, received_at) >= @since
      AND event IS coalesce(@event, event)) AS found`;

/** Each by its index, merged as they are read. */
const cameBetween = (column: 'received_at' | 'unread_at'): string => `
  SELECT id, installation_id AS installationId, ${column} AS receivedAt, verdict FROM deliveries
  WHERE ${column} >= @from AND ${column} <= @until AND (${column}, id) > (@from, @above)`;

/**
 * By the index of arrival alone: one by installation would cost the receiver a fifth of what it takes,
 * and twice as many bytes in the log.
 */
const ANNOUNCED = `
  ${cameBetween('received_at')} UNION ALL ${cameBetween('unread_at')}
  ORDER BY receivedAt, id LIMIT ${ANNOUNCED_SLICE}`;

/** What is known of the deliveries that came. */
export function createArrivals(db: Sqlite, now: () => number): Arrivals {
  const newest = statement<{ installationId: string; from: number; to: number }, { id: number }>(db, NEWEST);
  const said = statement<AskedToSay, SaidDelivery>(db, SAID);
  const came = statement<Asked, { found: number }>(db, CAME);
  const slice = statement<{ from: string; until: string; above: number }, CameRow>(db, ANNOUNCED);
  return {
    newestDelivery: async ({ id, installationId, trigger }) => {
      const from = answersFrom({ id, trigger });
      if (installationId === null || from === null) return null;
      return newest.get({ installationId, from, to: id })?.id ?? null;
    },
    said: async ({ events, ...request }) => said.all({ ...request, events: JSON.stringify(events) }),
    haveCome: async (installationId, questions) => {
      const at = formatInstant(now());
      return questions.map(({ since, event = null, isNew = false }) => {
        const begun = formatInstant(isNew ? since : since - FOLDED_WITHIN_MS);
        return came.get({ installationId, event, begun, since: formatInstant(since), now: at })?.found === 1;
      });
    },
    announced: async ({ from, until, above }) => sliceOf(slice.all({ from, until, above }), until),
  };
}
