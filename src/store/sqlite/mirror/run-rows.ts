import type { Tables } from '../../contract/tables.js';
import type { Sqlite } from '../open.js';
import { createFence, type Fence } from './fence.js';
import { createStateRows, type StateRows } from './state-rows.js';

type Run = Tables['sync_runs'];
type RunCounts = Pick<Run, 'rows_added' | 'rows_changed' | 'rows_removed' | 'rows_unchanged'>;
type NewRun = Pick<
  Run,
  'organization_id' | 'resource' | 'trigger' | 'claim' | 'started_at' | 'job_id' | 'delivery_id'
>;
type SmallRun = NewRun & Pick<Run, 'finished_at' | 'answered_at' | 'rows_added' | 'rows_changed'>;
type EndedRun = RunCounts &
  Pick<
    Run,
    'id' | 'finished_at' | 'answered_at' | 'state' | 'requests' | 'bytes' | 'drift' | 'error_code' | 'error'
  >;

/** The statements behind sync_runs, fences and the version counter, and those of resource_states, prepared once. */
export interface RunRows extends StateRows {
  readonly db: Sqlite;
  readonly fence: Fence;
  /** Reserves so many version numbers and answers the first of them. Inside a transaction. */
  versions(count: number): number;
  beginRun(run: NewRun): number;
  /** A run that wrote one row, whose number is the newest, and is over. */
  enterSmallRun(run: SmallRun): number;
  countRun(run: RunCounts & { id: number }): void;
  endRun(run: EndedRun): void;
  interruptRuns(organizationId: string, lane: string, claim: number, at: string): void;
}

/** Whatever a run changed has its number by now. */
const NUMBERED = `last_number = iif(@rows_added + @rows_changed + @rows_removed > rows_added + rows_changed + rows_removed,
         (SELECT last FROM version_counter), last_number)`;

export function createRunRows(db: Sqlite): RunRows {
  const advance = db
    .prepare<[number], number>('UPDATE version_counter SET last = last + ? RETURNING last')
    .pluck();
  const begin = db.prepare<[NewRun]>(
    `INSERT INTO sync_runs (organization_id, resource, trigger, claim, started_at, state, job_id, delivery_id)
     VALUES (@organization_id, @resource, @trigger, @claim, @started_at, 'running', @job_id, @delivery_id)`,
  );
  const enterSmall = db.prepare<[SmallRun]>(
    `INSERT INTO sync_runs (organization_id, resource, trigger, claim, started_at, finished_at, state,
       rows_added, rows_changed, job_id, delivery_id, answered_at, last_number)
     SELECT @organization_id, @resource, @trigger, @claim, @started_at, @finished_at, 'complete',
       @rows_added, @rows_changed, @job_id, @delivery_id, @answered_at, last
     FROM version_counter`,
  );
  const count = db.prepare(
    `UPDATE sync_runs SET rows_added = @rows_added, rows_changed = @rows_changed,
       rows_removed = @rows_removed, rows_unchanged = @rows_unchanged, ${NUMBERED}
     WHERE id = @id`,
  );
  const end = db.prepare(
    `UPDATE sync_runs SET finished_at = @finished_at, answered_at = @answered_at, state = @state, requests = @requests, bytes = @bytes,
       rows_added = @rows_added, rows_changed = @rows_changed, rows_removed = @rows_removed,
       rows_unchanged = @rows_unchanged, ${NUMBERED}, drift = @drift, error_code = @error_code, error = @error
     WHERE id = @id`,
  );
  const interrupt = db.prepare(
    `UPDATE sync_runs SET state = 'failed', finished_at = @at, error_code = 'interrupted',
       error = 'the work was interrupted before it ended'
     WHERE state = 'running' AND organization_id = @organization_id AND claim < @claim
       AND (resource = 'certificates') = (@lane = 'certificates')`,
  );
  return {
    db,
    fence: createFence(db),
    ...createStateRows(db),
    versions: wanted => (advance.get(wanted) ?? wanted) - wanted + 1,
    beginRun: run => Number(begin.run(run).lastInsertRowid),
    enterSmallRun: run => Number(enterSmall.run(run).lastInsertRowid),
    countRun: run => void count.run(run),
    endRun: run => void end.run(run),
    interruptRuns: (organizationId, lane, claim, at) =>
      void interrupt.run({ organization_id: organizationId, lane, claim, at }),
  };
}
