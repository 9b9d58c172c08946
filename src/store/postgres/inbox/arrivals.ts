import {
  ANNOUNCED_SLICE,
  type CameRow,
  FOLDED_WITHIN_MS,
  LATEST_DELIVERIES,
  sliceOf,
} from '../../../inbox/delivery.js';
import { answersFrom } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import type { Query } from '../open.js';
import { AT, type Perform } from './perform.js';

type Arrivals = Pick<InboxPort, 'newestDelivery' | 'haveCome' | 'announced'>;

const NEWEST = `
  SELECT id FROM inbox.deliveries
  WHERE id > (SELECT max(id) FROM inbox.deliveries) - ${LATEST_DELIVERIES}
    AND installation_id = $1 AND verdict = 'accepted' AND job_id BETWEEN $2 AND $3
  ORDER BY id DESC LIMIT 1`;

const HAVE_COME = `
  SELECT jsonb_build_object('have_come', coalesce(jsonb_agg(EXISTS (
    SELECT FROM inbox.deliveries
    WHERE installation_id = $1 ->> 'installation_id' AND verdict = 'accepted'
      AND received_at BETWEEN asked.begun AND ${AT}
      AND coalesce(last_duplicate_at, received_at) >= asked.since
      AND (asked.event IS NULL OR deliveries.event = asked.event)) ORDER BY place), '[]'))
  FROM ROWS FROM (jsonb_to_recordset($1 -> 'questions') AS (since timestamptz, begun timestamptz, event text))
    WITH ORDINALITY AS asked (since, begun, event, place)`;

/** Each by its index, merged as they are read. */
const cameBetween = (column: 'received_at' | 'unread_duplicate_at'): string => `
  (SELECT id, installation_id AS "installationId", ${column} AS "receivedAt", verdict FROM inbox.deliveries
  WHERE ${column} <= $2 AND (${column}, id) > ($1::timestamptz, $3::bigint)
  ORDER BY ${column}, id LIMIT ${ANNOUNCED_SLICE})`;

const ANNOUNCED = `
  ${cameBetween('received_at')} UNION ALL ${cameBetween('unread_duplicate_at')}
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
