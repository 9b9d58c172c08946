import { type RawBuilder, sql } from 'kysely';
import type { InboxPort } from '../../inbox/port.js';
import type { Table } from '../dialect.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { NowParam, InboxDatabase } from './inbox-database.js';

type AgeLimit = NowParam & { readonly ageMs: number };

const DAY_MS = 86_400_000;
/** How many deliveries and how many jobs one transaction removes. */
const BATCH_SIZE = 500;

const delivery = tableRef('inbox.deliveries');
const job = tableRef('inbox.jobs');
const text = tableRef('inbox.signed_texts');

/** Only one process prunes at a time, so that the removed texts and the removed deliveries belong together. */
const LOCK_PRUNING = prepared(({ fn }) => fn.lockByName('inbox.deliveries'));

/**
 * Selects old deliveries, but never the newest delivery, because SQLite would give its id to the next one. The rows are
 * materialized, because PostgreSQL would otherwise repeat the search for each row of the DELETE.
 */
const selectOldDeliveries = (id: RawBuilder<number>, oldest: RawBuilder<string>) =>
  sql`WITH old AS MATERIALIZED (SELECT ${id} AS id FROM ${delivery()}
    WHERE ${delivery.received_at} < ${oldest} AND ${delivery.id} < (SELECT max(${delivery.id}) FROM ${delivery()})
    ORDER BY ${delivery.received_at}, ${delivery.id} LIMIT ${BATCH_SIZE})`;
const IS_OLD = sql`IN (SELECT id FROM old)`;

/** A signed text is removed with its last delivery. */
const PRUNE_TEXTS = prepared(({ fn }, { now, ageMs }: Params<AgeLimit>) => {
  const oldest = fn.addMs(fn.clock(now), ageMs);
  return sqlStatement`${selectOldDeliveries(delivery.stored_text_id, oldest)}
    DELETE FROM ${text()} WHERE ${text.last_received_at} < ${oldest} AND ${text.id} ${IS_OLD} RETURNING ${select({ id: text.id })}`;
});
const PRUNE_DELIVERIES = prepared(({ fn }, { now, ageMs }: Params<AgeLimit>) => {
  const oldest = fn.addMs(fn.clock(now), ageMs);
  return sqlStatement`${selectOldDeliveries(delivery.id, oldest)}
    DELETE FROM ${delivery()} WHERE ${delivery.id} ${IS_OLD} RETURNING ${select({ id: delivery.id })}`;
});
/** Jobs that failed, wait or run are kept. */
const PRUNE_JOBS = prepared(({ fn }, { now, ageMs }: Params<AgeLimit>) => {
  const oldest = fn.addMs(fn.clock(now), ageMs);
  return sqlStatement`WITH old AS MATERIALIZED (SELECT ${job.id} FROM ${job()}
      WHERE ${job.state} = 'done' AND ${job.finished_at} < ${oldest} ORDER BY ${job.finished_at} LIMIT ${BATCH_SIZE})
    DELETE FROM ${job()} WHERE ${job.id} ${IS_OLD} RETURNING ${select({ id: job.id })}`;
});

const OVERWRITE_DELETED = prepared(({ fn }) => fn.overwriteDeleted);
const textIds = jsonRelation('erased', { id: 'int' });
type TextIds = { readonly ids: Table };
const ERASE_TEXTS = prepared(
  ({ fn }, { ids }: Params<TextIds>) =>
    sqlStatement`UPDATE ${text()} SET ${text.signed_data} = ''
      WHERE ${text.id} IN (SELECT ${textIds.columns.id} FROM ${textIds.from(fn, ids)})`,
);
const COUNT_DELIVERIES = prepared(
  ({ fn }, { ids }: Params<TextIds>) =>
    sqlStatement`SELECT ${select({ count: sql<number>`count(*)` })} FROM ${delivery()}
      WHERE ${delivery.stored_text_id} IN (SELECT ${textIds.columns.id} FROM ${textIds.from(fn, ids)})`,
);

/** Creates the methods of `InboxPort` that delete old rows and erase the signed texts of webhooks. */
export function createRetention({
  commit,
  now,
}: InboxDatabase): Pick<InboxPort, 'prune' | 'eraseSignedTexts'> {
  return {
    prune: async days => {
      if (days === 0) return null;
      const limit = { now: now(), ageMs: -days * DAY_MS };
      const [, texts, deliveries, jobs] = await commit(
        LOCK_PRUNING(),
        PRUNE_TEXTS(limit),
        PRUNE_DELIVERIES(limit),
        PRUNE_JOBS(limit),
      );
      if (deliveries.length + jobs.length === 0) return null;
      return { deliveries: deliveries.length, signedTexts: texts.length, jobs: jobs.length };
    },
    eraseSignedTexts: async erased => {
      const ids = textIds.toTable(erased.map(id => ({ id })));
      const [, , [counted]] = await commit(
        OVERWRITE_DELETED(),
        ERASE_TEXTS({ ids }),
        COUNT_DELIVERIES({ ids }),
      );
      return counted?.count ?? 0;
    },
  };
}
