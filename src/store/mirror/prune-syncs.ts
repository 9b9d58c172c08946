import { type Expression, sql } from 'kysely';
import type { MirrorPort, PrunePosition } from '../../mirror/port/mirror-port.js';
import type { Table } from '../dialect.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { Database } from '../statement.js';

const START_OF_TIME = '0001-01-01T00:00:00.000Z';
/** How many syncs one transaction checks. It blocks other writers for some milliseconds. */
const BATCH_SIZE = 500;

const sync = tableRef('mirror.syncs', 'sync');
const later = tableRef('mirror.syncs', 'later');
const state = tableRef('mirror.resource_states', 'state');

/** Selects the end of the next complete read of the same list, through the index of complete reads. */
const NEXT_COMPLETE = sql<string>`(SELECT ${later.finished_at} FROM ${later()}
  WHERE ${later.organization_id} = ${sync.organization_id} AND ${later.resource} = ${sync.resource} AND ${later.state} = 'complete'
    AND (${later.finished_at}, ${later.id}) > (${sync.finished_at}, ${sync.id})
  ORDER BY ${later.finished_at}, ${later.id} LIMIT 1)`;

const LIST_OLD = prepared(
  (
    { fn },
    { after, id, before }: Params<{ readonly after: string; readonly id: number; readonly before: string }>,
  ) => {
    const finishedAt = sql<string>`${sync.finished_at}`;
    const toUtcDay = (instant: Expression<string>) => sql<string>`substr(${fn.asText(instant)}, 1, 10)`;
    const isKept = sql<number>`CASE WHEN ${sync.rows_added} + ${sync.rows_changed} + ${sync.rows_removed} > 0
        OR (${sync.state} = 'complete' AND coalesce(${toUtcDay(NEXT_COMPLETE)}, '') <> ${toUtcDay(finishedAt)})
        OR EXISTS (SELECT 1 FROM ${state()}
          WHERE ${state.organization_id} = ${sync.organization_id} AND ${state.resource} = ${sync.resource}
            AND ${sync.started_at} IN (${state.as_of}, ${state.attempted_at}))
      THEN 1 ELSE 0 END`;
    return sqlStatement`SELECT ${select({ id: sync.id, finished_at: finishedAt, is_kept: isKept })} FROM ${sync()}
      WHERE ${finishedAt} >= ${after} AND ${finishedAt} < ${before} AND (${finishedAt}, ${sync.id}) > (${after}, ${id})
      ORDER BY ${finishedAt}, ${sync.id} LIMIT ${BATCH_SIZE}`;
  },
);

const syncIds = jsonRelation('old', { id: 'int' });
const REMOVE = prepared(({ fn }, { ids }: Params<{ readonly ids: Table }>) => {
  const removed = tableRef('mirror.syncs');
  return sqlStatement`DELETE FROM ${removed()} WHERE ${removed.id} IN (SELECT ${syncIds.columns.id} FROM ${syncIds.from(fn, ids)})
    RETURNING ${select({ id: removed.id })}`;
});

const READ_CHECKED = prepared(({ db }) => db.selectFrom('mirror.origin').select('syncs_checked_until_at'));
const SAVE_CHECKED = prepared(({ db }, { until }: Params<{ readonly until: string }>) =>
  db
    .updateTable('mirror.origin')
    .set({ syncs_checked_until_at: until })
    .where(eb => eb.or([eb('syncs_checked_until_at', 'is', null), eb('syncs_checked_until_at', '<', until)])),
);

/** Saves the instant since which all syncs are kept. A sync missing after that instant was removed by hand. */
const SAVE_KEPT_SINCE = prepared(({ db }, { before }: Params<{ readonly before: string }>) =>
  db
    .updateTable('mirror.origin')
    .set({ syncs_kept_since_at: before })
    .where(eb => eb.or([eb('syncs_kept_since_at', 'is', null), eb('syncs_kept_since_at', '<', before)])),
);

/**
 * Creates the method of `MirrorPort` that deletes the records of old reads (syncs) in small batches. Keeps the syncs that wrote
 * rows, the last complete sync of each list on each UTC day, and the latest sync of each list. Saves its position, so that no
 * sync is checked twice, even after a restart.
 */
export function createSyncPruning({ read, transact }: Database): Pick<MirrorPort, 'pruneSyncs'> {
  /** Reads the stored position up to which earlier calls have checked the syncs. Returns the start of time if none is stored. */
  async function readSavedPosition(): Promise<PrunePosition> {
    const [[origin]] = await read(READ_CHECKED());
    return { after: origin?.syncs_checked_until_at ?? START_OF_TIME, id: 0 };
  }

  return {
    pruneSyncs: async ({ endedBefore, settledBefore, position }) => {
      const { after, id } = position ?? (await readSavedPosition());
      const [old] = await read(LIST_OLD({ after, id, before: endedBefore }));
      const removable = old.filter(({ is_kept: isKept }) => isKept === 0).map(row => ({ id: row.id }));
      const end = old.length < BATCH_SIZE ? undefined : old.at(-1);
      const until = end === undefined || end.finished_at > settledBefore ? settledBefore : end.finished_at;
      const [removed] = await transact(batch =>
        removable.length === 0
          ? batch(null, null, SAVE_CHECKED({ until }))
          : batch(
              REMOVE({ ids: syncIds.toTable(removable) }),
              SAVE_KEPT_SINCE({ before: endedBefore }),
              SAVE_CHECKED({ until }),
            ),
      );
      return {
        removed: removed.length,
        next: end === undefined ? null : { after: end.finished_at, id: end.id },
      };
    },
  };
}
