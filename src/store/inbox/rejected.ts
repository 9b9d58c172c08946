import type { InboxPort } from '../../inbox/port.js';
import { MAX_ROWS_PER_MINUTE, MAX_REJECTED_ROWS, OTHER_PREFIX } from '../../inbox/rejection.js';
import { fixed, statement } from '../statement.js';
import { type AtTime, type InboxDatabase, NOW } from './database.js';

type Counted = AtTime & { reason: string; status: number; prefix: string; rejected: number; ms: number };

/** How full a minute is decides of the next. */
const ALONE = fixed(({ alone }) => alone('inbox.rejected_webhooks'));
const COUNT = statement<Counted>(dialect => {
  const { as, later, minute, greatest } = dialect;
  return `INSERT INTO inbox.rejected_webhooks AS r (minute, reason, status, header_prefix, rejected, newest_at)
    SELECT c.minute, c.reason, c.status,
      CASE WHEN (SELECT count(*) FROM inbox.rejected_webhooks AS o WHERE o.minute = c.minute) < ${MAX_ROWS_PER_MINUTE}
        OR EXISTS (SELECT 1 FROM inbox.rejected_webhooks AS o WHERE o.minute = c.minute
          AND o.reason = c.reason AND o.status = c.status AND o.header_prefix = c.prefix)
        THEN c.prefix ELSE '${OTHER_PREFIX}' END, c.rejected, c.at
    FROM (
      SELECT ${minute('at')} AS minute, at, ${as('text', '@reason')} AS reason, ${as('int', '@status')} AS status,
        ${as('text', '@prefix')} AS prefix, ${as('int', '@rejected')} AS rejected
      FROM (SELECT ${later(NOW(dialect), '@ms')} AS at) AS now
    ) AS c WHERE true
    ON CONFLICT (minute, reason, status, header_prefix) DO UPDATE SET
      rejected = r.rejected + excluded.rejected, newest_at = ${greatest('r.newest_at', 'excluded.newest_at')}`;
});
const TRIM = fixed(
  `DELETE FROM inbox.rejected_webhooks WHERE minute < (
     SELECT minute FROM inbox.rejected_webhooks ORDER BY minute DESC LIMIT 1 OFFSET ${MAX_REJECTED_ROWS})`,
);

/** Adds to the counts of their minutes. */
export function createCountRejected({ commit, now }: InboxDatabase): InboxPort['countRejected'] {
  return async rejected => {
    if (rejected.length === 0) return;
    const at = now();
    const counts = rejected.map(({ headerPrefix: prefix, newestMsAgo, ...each }) =>
      COUNT({ ...each, prefix, ms: -newestMsAgo, now: at }),
    );
    await commit(ALONE, ...counts, TRIM);
  };
}
