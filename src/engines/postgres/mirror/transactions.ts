import type { MirrorPort } from '../../../mirror/port.js';
import type { Postgres } from '../open.js';
import { FENCE } from './fence.js';
import { given, type Perform } from './perform.js';

/** What webhooks said of transactions: noted once for each text. */
const NOTE = `
  INSERT INTO mirror.transactions (digest, delivery_id, received_at, installation_id, organization_id, event, id, type, status,
    credit_id, amount, amount_micro, amount_exact, fault)
  SELECT s.digest, s."deliveryId", s."receivedAt", ${given('installation_id')}, ${given('organization_id')}, s.event, s.id, s.type,
    s.status, s."creditId", s.amount, s."amountMicro", s."amountExact", s.fault
  FROM jsonb_to_recordset($1 -> 'said') AS s (digest text, "deliveryId" bigint, "receivedAt" timestamptz, event text, id text,
    type text, status text, "creditId" text, amount double precision, "amountMicro" bigint, "amountExact" text, fault text)
  ON CONFLICT DO NOTHING
  RETURNING '{}'::jsonb`;

export function createTransactions(
  { query }: Postgres,
  perform: Perform,
): Pick<MirrorPort, 'lastTransaction' | 'noteTransactions'> {
  return {
    lastTransaction: async installationId => {
      const [row] = await query<{ last: number | null }>(
        'SELECT max(delivery_id) AS last FROM mirror.transactions WHERE installation_id = $1',
        [installationId],
      );
      return row?.last ?? 0;
    },
    noteTransactions: async ({ organizationId, lane, claim }, installationId, said) => {
      await perform([...FENCE, NOTE], {
        organization_id: organizationId,
        lane,
        claim,
        installation_id: installationId,
        said: said.map(each => ({ ...each, amountMicro: each.amountMicro?.toString() ?? null })),
      });
    },
  };
}
