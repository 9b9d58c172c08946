import type { Tables } from '../../contract/tables.js';
import type { Sqlite } from '../open.js';
import { createFence, type Fence } from './fence.js';
import { createStateRows, type StateRows } from './state-rows.js';

type Sync = Tables['syncs'];
type SyncCounts = Pick<Sync, 'rows_added' | 'rows_changed' | 'rows_removed' | 'rows_unchanged'>;
type NewSync = Pick<
  Sync,
  'organization_id' | 'resource' | 'trigger' | 'claim' | 'started_at' | 'job_id' | 'delivery_id'
>;
type SmallSync = NewSync & Pick<Sync, 'finished_at' | 'answered_at' | 'rows_added' | 'rows_changed'>;
type EndedSync = SyncCounts &
  Pick<
    Sync,
    'id' | 'finished_at' | 'answered_at' | 'state' | 'requests' | 'bytes' | 'drift' | 'error_code' | 'error'
  >;

/** The statements behind syncs, fences and the version counter, and those of resource_states, prepared once. */
export interface SyncRows extends StateRows {
  readonly db: Sqlite;
  readonly fence: Fence;
  /** Reserves so many version numbers and answers the first of them. Inside a transaction. */
  versions(count: number): number;
  beginSync(sync: NewSync): number;
  /** A sync that wrote one row, whose number is the newest, and is over. */
  enterSmallSync(sync: SmallSync): number;
  countSync(sync: SyncCounts & { id: number }): void;
  endSync(sync: EndedSync): void;
}

/** Whatever a sync changed has its number by now. */
const NUMBERED = `last_number = iif(@rows_added + @rows_changed + @rows_removed > rows_added + rows_changed + rows_removed,
         (SELECT last FROM version_counter), last_number)`;

export function createSyncRows(db: Sqlite): SyncRows {
  const advance = db
    .prepare<[number], number>('UPDATE version_counter SET last = last + ? RETURNING last')
    .pluck();
  const begin = db.prepare<[NewSync]>(
    `INSERT INTO syncs (organization_id, resource, trigger, claim, started_at, state, job_id, delivery_id)
     VALUES (@organization_id, @resource, @trigger, @claim, @started_at, 'running', @job_id, @delivery_id)`,
  );
  const enterSmall = db.prepare<[SmallSync]>(
    `INSERT INTO syncs (organization_id, resource, trigger, claim, started_at, finished_at, state,
       rows_added, rows_changed, job_id, delivery_id, answered_at, last_number)
     SELECT @organization_id, @resource, @trigger, @claim, @started_at, @finished_at, 'complete',
       @rows_added, @rows_changed, @job_id, @delivery_id, @answered_at, last
     FROM version_counter`,
  );
  const count = db.prepare(
    `UPDATE syncs SET rows_added = @rows_added, rows_changed = @rows_changed,
       rows_removed = @rows_removed, rows_unchanged = @rows_unchanged, ${NUMBERED}
     WHERE id = @id`,
  );
  const end = db.prepare(
    `UPDATE syncs SET finished_at = @finished_at, answered_at = @answered_at, state = @state, requests = @requests, bytes = @bytes,
       rows_added = @rows_added, rows_changed = @rows_changed, rows_removed = @rows_removed,
       rows_unchanged = @rows_unchanged, ${NUMBERED}, drift = @drift, error_code = @error_code, error = @error
     WHERE id = @id`,
  );
  return {
    db,
    fence: createFence(db),
    ...createStateRows(db),
    versions: wanted => (advance.get(wanted) ?? wanted) - wanted + 1,
    beginSync: sync => Number(begin.run(sync).lastInsertRowid),
    enterSmallSync: sync => Number(enterSmall.run(sync).lastInsertRowid),
    countSync: sync => void count.run(sync),
    endSync: sync => void end.run(sync),
  };
}
