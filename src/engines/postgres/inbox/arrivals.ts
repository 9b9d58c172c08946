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
import type { Query } from '../open.js';
import { AT, type Perform } from './perform.js';

type Arrivals = Pick<InboxPort, 'newestDelivery' | 'said' | 'haveCome' | 'announced'>;

const NEWEST = `
  SELECT id FROM inbox.deliveries
  WHERE id > (SELECT max(id) FROM inbox.deliveries) - ${LATEST_DELIVERIES}
    AND installation_id = $1 AND verdict = 'accepted' AND job_id BETWEEN $2 AND $3
  ORDER BY id DESC LIMIT 1`;

const SAID = `
  SELECT d.id, d.received_at AS "receivedAt", d.event, d.digest, t.signed_data AS "signedData"
  FROM inbox.deliveries AS d JOIN inbox.signed_texts AS t ON t.id = d.text_id
  WHERE d.id > (SELECT greatest(max(id) - ${LATEST_DELIVERIES}, CASE WHEN $4 > max(id) THEN 0 ELSE $4 END) FROM inbox.deliveries)
    AND d.installation_id = $1 AND d.verdict = 'accepted' AND d.job_id <= $3
    AND d.event = ANY ($2::text[]) AND t.signed_data <> ''
  ORDER BY d.id LIMIT $5`;

const HAVE_COME = `
  SELECT jsonb_build_object('have_come', coalesce(jsonb_agg(EXISTS (
    SELECT FROM inbox.deliveries
    WHERE installation_id = $1 ->> 'installation_id' AND verdict = 'accepted'
      AND received_at BETWEEN asked.begun AND ${AT}
      AND coalesce(last_received_at, received_at) >= asked.since
      AND (asked.event IS NULL OR deliveries.event = asked.event)) ORDER BY place), '[]'))
  FROM ROWS FROM (jsonb_to_recordset($1 -> 'questions') AS (since timestamptz, begun timestamptz, event text))
    WITH ORDINALITY AS asked (since, begun, event, place)`;

/** Each by its index, merged as they are read. */
const cameBetween = (column: 'received_at' | 'unread_at'): string => `
  (SELECT id, installation_id AS "installationId", ${column} AS "receivedAt", verdict FROM inbox.deliveries
  WHERE ${column} <= $2 AND (${column}, id) > ($1::timestamptz, $3::bigint)
  ORDER BY ${column}, id LIMIT ${ANNOUNCED_SLICE})`;

const ANNOUNCED = `
  ${cameBetween('received_at')} UNION ALL ${cameBetween('unread_at')}
  ORDER BY "receivedAt", id LIMIT ${ANNOUNCED_SLICE}`;

/** What is known of the deliveries that came. */
export function createArrivals(query: Query, { perform }: Perform): Arrivals {
  return {
    newestDelivery: async ({ id, installationId, trigger }) => {
      const from = answersFrom({ id, trigger });
      if (installationId === null || from === null) return null;
      const [newest] = await query<{ id: number }>(NEWEST, [installationId, from, id]);
      return newest?.id ?? null;
    },
    said: ({ installationId, events, jobId, above, limit }) =>
      query<SaidDelivery>(SAID, [installationId, events, jobId, above, limit]),
    haveCome: async (installationId, questions) => {
      const asked = questions.map(({ since, event = null, isNew = false }) => ({
        event,
        since: new Date(since).toISOString(),
        begun: new Date(isNew ? since : since - FOLDED_WITHIN_MS).toISOString(),
      }));
      const { have_come } = await perform<{ have_come: boolean[] }>([HAVE_COME], {
        installation_id: installationId,
        questions: asked,
      });
      return have_come;
    },
    announced: async ({ from, until, above }) =>
      sliceOf(await query<CameRow>(ANNOUNCED, [from, until, above]), until),
  };
}
