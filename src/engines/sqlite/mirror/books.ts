import type { RunState } from '../../contract/mirror-tables.js';
import type { Tables } from '../../contract/tables.js';
import { OPENING, type OpeningRow } from '../../resource-state.js';
import type { Sqlite } from '../open.js';
import { createFence, type Fence } from './fence.js';
import type { Cause, Mark } from '../../../mirror/port.js';
import type { Resource } from '../../../resources/lists.js';

/** What is known of one resource, and by which claim and read. */
interface KnownState extends OpeningRow, Pick<Tables['resource_states'], 'read_claim' | 'read_at'> {}

interface Whose {
  organization_id: string;
  resource: Resource;
}

interface RunCounts {
  rows_added: number;
  rows_changed: number;
  rows_removed: number;
  rows_unchanged: number;
}

interface NewRun {
  organization_id: string | null;
  resource: Resource | 'installation';
  trigger: string;
  claim: number;
  started_at: string;
  job_id: number | null;
  delivery_id: number | null;
}

interface EndedRun extends RunCounts {
  id: number;
  finished_at: string;
  answered_at: string | null;
  state: RunState;
  requests: number;
  bytes: number;
  drift: number;
  error_code: string | null;
  error: string | null;
}

interface SmallRun extends NewRun {
  finished_at: string;
  answered_at: string;
  rows_added: number;
  rows_changed: number;
}

interface Written extends Whose {
  rows: number;
  open_run: number;
  stamp_at: string | null;
  read_claim: number;
  read_at: string;
}

interface EndedState extends Whose {
  rows: number;
  complete_at: string | null;
  /** From when on the whole list is known; null where this read was not complete. */
  whole_at: string | null;
  attempted_at: string;
  outcome: RunState;
  error_code: string | null;
  error: string | null;
  open_run: number | null;
  drift: number;
  drift_at: string | null;
  duration_ms: number | null;
  stamp_at: string | null;
  read_claim: number | null;
  read_at: string | null;
  answer_status: number | null;
  answer_form: string | null;
  answer_text: string | null;
  answered_at: string | null;
  /** Whether `page_size` is to be written. */
  is_sized: 0 | 1;
  page_size: number | null;
  /** Null where that is as it was. */
  owner_told: number | null;
}

/** The statements behind sync_runs, resource_states, fences and the version counter, prepared once. */
export interface Books {
  readonly db: Sqlite;
  readonly fence: Fence;
  /** Reserves so many version numbers and answers the first of them. Inside a transaction. */
  versions(count: number): number;
  state(organizationId: string, resource: Resource): KnownState | undefined;
  prepareStates(organizationId: string, resources: readonly Resource[]): void;
  beginRun(run: NewRun): number;
  /** A run that wrote one row, whose number is the newest, and is over. */
  enterSmallRun(run: SmallRun): number;
  countRun(run: RunCounts & { id: number }): void;
  endRun(run: EndedRun): void;
  interruptRuns(organizationId: string, lane: string, claim: number, at: string): void;
  written(state: Written): void;
  ended(state: EndedState): void;
  doubt(whose: Whose & { doubted_at: string | null; doubted: Uint8Array | null }): void;
  mark(how: Mark, whose: Whose & { at: string }): void;
}

const WHOSE = 'organization_id = @organization_id AND resource = @resource';
/** Whatever a run changed has its number by now. */
const NUMBERED = `last_number = iif(@rows_added + @rows_changed + @rows_removed > rows_added + rows_changed + rows_removed,
         (SELECT last FROM version_counter), last_number)`;

export function createBooks(db: Sqlite): Books {
  const advance = db
    .prepare<[number], number>('UPDATE version_counter SET last = last + ? RETURNING last')
    .pluck();
  const state = db.prepare<[string, string], KnownState>(
    `SELECT ${OPENING}, read_claim, read_at FROM resource_states WHERE organization_id = ? AND resource = ?`,
  );
  const prepare = db.prepare(
    'INSERT INTO resource_states (organization_id, resource) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
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
  const written = db.prepare(
    `UPDATE resource_states SET rows = rows + @rows, open_run = @open_run,
       stamp_at = coalesce(@stamp_at, stamp_at),
       read_claim = @read_claim, read_at = @read_at
     WHERE ${WHOSE}`,
  );
  const ended = db.prepare(
    `UPDATE resource_states SET rows = rows + @rows, complete_at = coalesce(@complete_at, complete_at),
       first_complete_at = coalesce(first_complete_at, @whole_at),
       attempted_at = @attempted_at, outcome = @outcome, error_code = @error_code, error = @error,
       forbidden_at = iif(@outcome = 'failed', forbidden_at, NULL),
       not_offered_at = iif(@outcome = 'failed', not_offered_at, NULL),
       refusals = iif(@outcome = 'failed', refusals, 0), open_run = @open_run,
       drift = drift + @drift, drift_at = coalesce(@drift_at, drift_at),
       answer_status = coalesce(@answer_status, answer_status), answer_form = coalesce(@answer_form, answer_form),
       answer_text = iif(@answered_at IS NULL, answer_text, @answer_text),
       answered_at = coalesce(@answered_at, answered_at),
       page_size = iif(@is_sized, @page_size, page_size), owner_told = coalesce(@owner_told, owner_told),
       duration_ms = coalesce(@duration_ms, duration_ms), stamp_at = coalesce(@stamp_at, stamp_at),
       read_claim = coalesce(@read_claim, read_claim), read_at = coalesce(@read_at, read_at)
     WHERE ${WHOSE}`,
  );
  const doubt = db.prepare(
    `UPDATE resource_states SET doubted_at = @doubted_at, doubted = @doubted WHERE ${WHOSE}`,
  );
  /** Where it was not even asked for, what went wrong before is no matter any more. */
  const forbid = db.prepare(
    `UPDATE resource_states SET forbidden_at = coalesce(forbidden_at, @at), refusals = 0, not_offered_at = NULL,
       error_code = NULL, error = NULL
     WHERE ${WHOSE}`,
  );
  const refuse = db.prepare(
    `UPDATE resource_states SET forbidden_at = coalesce(forbidden_at, @at), refusals = refusals + 1,
       not_offered_at = NULL
     WHERE ${WHOSE}`,
  );
  const dismiss = db.prepare(
    `UPDATE resource_states SET not_offered_at = coalesce(not_offered_at, @at), refusals = refusals + 1,
       forbidden_at = NULL
     WHERE ${WHOSE}`,
  );
  return {
    db,
    fence: createFence(db),
    versions: wanted => (advance.get(wanted) ?? wanted) - wanted + 1,
    state: (organizationId, resource) => state.get(organizationId, resource),
    prepareStates: (organizationId, resources) => {
      for (const resource of resources) prepare.run(organizationId, resource);
    },
    beginRun: run => Number(begin.run(run).lastInsertRowid),
    enterSmallRun: run => Number(enterSmall.run(run).lastInsertRowid),
    countRun: run => void count.run(run),
    endRun: run => void end.run(run),
    interruptRuns: (organizationId, lane, claim, at) =>
      void interrupt.run({ organization_id: organizationId, lane, claim, at }),
    written: row => void written.run(row),
    ended: row => void ended.run(row),
    doubt: row => void doubt.run(row),
    mark: (how, row) => void { forbidden: forbid, refused: refuse, not_offered: dismiss }[how].run(row),
  };
}

/** What a run says of who asked for it. */
export function causeColumns(cause: Cause | undefined) {
  return { job_id: cause?.jobId ?? null, delivery_id: cause?.deliveryId ?? null };
}
