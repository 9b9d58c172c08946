import {
  ANNOUNCED_SLICE,
  type CameRow,
  FOLDED_WITHIN_MS,
  LATEST_DELIVERIES,
  sliceOf,
} from '../../../inbox/delivery.js';
import { answersFrom } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

type Arrivals = Pick<InboxPort, 'newestDelivery' | 'haveCome' | 'announced'>;
type Asked = { installationId: string; event: string | null; begun: string; since: string; now: string };

const NEWEST = `
  SELECT id FROM deliveries
  WHERE id > (SELECT max(id) FROM deliveries) - ${LATEST_DELIVERIES}
    AND installation_id = @installationId AND verdict = 'accepted' AND job_id BETWEEN @from AND @to
  ORDER BY id DESC LIMIT 1`;

/** By the index of arrival. */
const CAME = `
  SELECT EXISTS (SELECT 1 FROM deliveries
    WHERE installation_id = @installationId AND verdict = 'accepted'
      AND received_at BETWEEN @begun AND @now
      AND coalesce(last_duplicate_at, received_at) >= @since
      AND event IS coalesce(@event, event)) AS found`;

/** Each by its index, merged as they are read. */
const cameBetween = (column: 'received_at' | 'unread_duplicate_at'): string => `
  SELECT id, installation_id AS installationId, ${column} AS receivedAt, verdict FROM deliveries
  WHERE ${column} >= @from AND ${column} <= @until AND (${column}, id) > (@from, @above)`;

/**
 * By the index of arrival alone: one by installation would cost the receiver a fifth of what it takes,
 * and twice as many bytes in the log.
 */
const ANNOUNCED = `
  ${cameBetween('received_at')} UNION ALL ${cameBetween('unread_duplicate_at')}
  ORDER BY receivedAt, id LIMIT ${ANNOUNCED_SLICE}`;

/** What is known of the deliveries that came. */
export function createArrivals(db: Sqlite, now: () => number): Arrivals {
  const newest = statement<{ installationId: string; from: number; to: number }, { id: number }>(db, NEWEST);
  const came = statement<Asked, { found: number }>(db, CAME);
  const slice = statement<{ from: string; until: string; above: number }, CameRow>(db, ANNOUNCED);
  return {
    newestDelivery: async ({ id, installationId, trigger }) => {
      const from = answersFrom({ id, trigger });
      if (installationId === null || from === null) return null;
      return newest.get({ installationId, from, to: id })?.id ?? null;
    },
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
