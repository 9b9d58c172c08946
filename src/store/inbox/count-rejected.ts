import { sql } from 'kysely';
import type { InboxPort } from '../../inbox/port.js';
import { MAX_ROWS_PER_MINUTE, MAX_REJECTED_ROWS, OTHER_PREFIX } from '../../inbox/rejection.js';
import { insertFrom, tableRef, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { NowParam, InboxDatabase } from './inbox-database.js';

type Rejections = NowParam & {
  readonly reason: string;
  readonly status: number;
  readonly headerPrefix: string;
  readonly rejected: number;
  /** The time from now to the newest rejection; never positive. */
  readonly offsetMs: number;
};

const own = tableRef('inbox.rejected_webhooks');
const stored = tableRef('inbox.rejected_webhooks', 'stored');
const given = tableRef('inbox.rejected_webhooks', 'given');
const excluded = tableRef('inbox.rejected_webhooks', 'excluded');

/** Only one process counts at a time, because the number of rows of a minute decides whether another prefix gets a row. */
const LOCK_COUNTS = prepared(({ fn }) => fn.lockByName('inbox.rejected_webhooks'));
const ADD_COUNT = prepared(({ fn }, params: Params<Rejections>) => {
  const { now, offsetMs, reason, status, headerPrefix, rejected } = params;
  const newestAt = fn.addMs(fn.clock(now), offsetMs);
  const prefix = sql<string>`CASE
    WHEN (SELECT count(*) FROM ${stored()} WHERE ${stored.minute} = ${given.minute}) < ${MAX_ROWS_PER_MINUTE}
      OR EXISTS (SELECT 1 FROM ${stored()} WHERE ${stored.minute} = ${given.minute} AND ${stored.reason} = ${given.reason}
        AND ${stored.status} = ${given.status} AND ${stored.header_prefix} = ${given.header_prefix})
    THEN ${given.header_prefix} ELSE ${OTHER_PREFIX} END`;
  const insert = insertFrom(
    'inbox.rejected_webhooks',
    {
      minute: given.minute,
      reason: given.reason,
      status: given.status,
      header_prefix: prefix,
      rejected: given.rejected,
      newest_at: given.newest_at,
    },
    sql`FROM (
      SELECT ${fn.minute(own.newest_at)} AS minute, ${own.newest_at}, ${fn.cast('text', reason)} AS reason,
        ${fn.cast('int', status)} AS status, ${fn.cast('text', headerPrefix)} AS header_prefix, ${fn.cast('int', rejected)} AS rejected
      FROM (SELECT ${newestAt} AS newest_at) AS time
    ) AS given WHERE true`,
  );
  return sqlStatement`${insert}
    ON CONFLICT (${own.minute}, ${own.reason}, ${own.status}, ${own.header_prefix}) DO UPDATE SET
      ${own.rejected} = rejected_webhooks.rejected + ${excluded.rejected},
      ${own.newest_at} = ${fn.greatest(sql<string>`rejected_webhooks.newest_at`, excluded.newest_at)}`;
});
const TRIM = prepared(
  () =>
    sqlStatement`DELETE FROM ${own()} WHERE ${own.minute} < (
      SELECT ${own.minute} FROM ${own()} ORDER BY ${own.minute} DESC LIMIT 1 OFFSET ${MAX_REJECTED_ROWS})`,
);

/**
 * Creates the method of `InboxPort` that counts rejected webhooks. It keeps a count for each minute, reason, HTTP status and prefix
 * of the signature header.
 */
export function createCountRejected({ commit, now }: InboxDatabase): InboxPort['countRejected'] {
  return async counts => {
    if (counts.length === 0) return;
    const at = { now: now() };
    const additions = counts.map(({ newestMsAgo, ...count }) =>
      ADD_COUNT({ ...count, ...at, offsetMs: -newestMsAgo }),
    );
    await commit(LOCK_COUNTS(), ...additions, TRIM());
  };
}
