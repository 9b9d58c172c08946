import { VersionClock } from '../../mirror/version-clock.js';
import { MirrorError } from '../../mirror/errors.js';
import type { SyncCause, CommitResult, ChangeCounts, SyncCompletion, OpenSync } from '../../mirror/port.js';
import { isFreeOfForgottenPeople } from '../../mirror/forgotten-people.js';
import { formatInstant, toReadableText } from '../../resources/sql-values.js';
import type { Tables } from '../contract/tables.js';
import { type BoundStatement, statement } from '../statement.js';
import { assertNotFenced, raiseFence } from './fence.js';
import { ensureStates } from './states.js';
import { LIST_FORGOTTEN, LOCK_COUNTER } from './people.js';

type Sync = Tables['syncs'];
type State = Tables['resource_states'];
type Whose = { readonly organizationId: string; readonly resource: string };

/** No installation changes its state until the transaction has ended. */
const INSTALLATIONS = statement<{ organizationId: string }, { readonly state: string }>(
  ({ forShare }) =>
    `SELECT state FROM mirror.installations WHERE organization_id = @organizationId ${forShare}`,
);
type SpanState = Pick<
  State,
  | 'unchanged_reads'
  | 'unchanged_first_started_at'
  | 'unchanged_first_finished_at'
  | 'unchanged_last_finished_at'
  | 'unchanged_requests'
  | 'unchanged_bytes'
>;
type StoredState = SpanState & Pick<State, 'read_claim' | 'read_at' | 'as_of'>;
const STATE = statement<Whose, StoredState>(
  `SELECT read_claim, read_at, as_of, unchanged_reads, unchanged_first_started_at, unchanged_first_finished_at,
     unchanged_last_finished_at, unchanged_requests, unchanged_bytes
   FROM mirror.resource_states WHERE organization_id = @organizationId AND resource = @resource`,
);
/** Writes the open span of unchanged reads as one that has ended. */
const CLOSE_SPAN = statement<Whose>(
  `INSERT INTO mirror.unchanged_spans (organization_id, resource, first_started_at, first_finished_at,
     last_started_at, last_finished_at, reads, requests, bytes)
   SELECT organization_id, resource, unchanged_first_started_at, unchanged_first_finished_at,
     as_of, unchanged_last_finished_at, unchanged_reads, unchanged_requests, unchanged_bytes
   FROM mirror.resource_states
   WHERE organization_id = @organizationId AND resource = @resource AND unchanged_reads > 0`,
);
const NUMBERS = statement<{ count: number }, { readonly last: number }>(
  'UPDATE mirror.version_counter SET last = last + @count RETURNING last',
);
const ENTER = statement<
  Whose &
    Pick<Sync, 'job_id' | 'newest_delivery_id'> & {
      readonly trigger: string;
      readonly claim: number;
      readonly at: string;
    },
  { readonly id: number }
>(
  `INSERT INTO mirror.syncs (organization_id, resource, trigger, claim, started_at, state, job_id, newest_delivery_id)
   VALUES (@organizationId, @resource, @trigger, @claim, @at, 'running', @job_id, @newest_delivery_id) RETURNING id`,
);

type SyncCounts = Pick<Sync, 'id' | 'rows_added' | 'rows_changed' | 'rows_removed' | 'rows_unchanged'> & {
  /** Whether this commit has changed a row: its number is the newest by now. */
  readonly is_changed: number;
};
type SyncEnd = SyncCounts &
  Pick<
    Sync,
    'finished_at' | 'last_answer_at' | 'state' | 'requests' | 'bytes' | 'drift' | 'error_code' | 'error'
  >;

const COUNTS = `rows_added = @rows_added, rows_changed = @rows_changed, rows_removed = @rows_removed,
  rows_unchanged = @rows_unchanged,
  changes_up_to = CASE WHEN @is_changed = 1 THEN (SELECT last FROM mirror.version_counter) ELSE changes_up_to END`;
const COUNT_SYNC = statement<SyncCounts>(`UPDATE mirror.syncs SET ${COUNTS} WHERE id = @id`);
const END_SYNC = statement<SyncEnd>(
  `UPDATE mirror.syncs SET ${COUNTS}, finished_at = @finished_at, last_answer_at = @last_answer_at, state = @state,
     requests = @requests, bytes = @bytes, drift = @drift, error_code = @error_code, error = @error
   WHERE id = @id AND finished_at IS NULL`,
);

type Written = Whose &
  SpanState &
  Pick<State, 'rows' | 'open_sync' | 'stamp_at'> & { readonly read_claim: number; readonly read_at: string };
type Ended = Written &
  ReturnType<typeof endingColumns> &
  Pick<State, 'as_of'> & {
    readonly drift: number;
    /** From when on the whole list is known; null where this read was not complete. */
    readonly whole_at: string | null;
    readonly outcome: string;
    readonly is_whole: number;
    readonly is_failed: number;
    readonly is_answered: number;
  };

const WRITTEN = `rows = rows + @rows, open_sync = @open_sync, stamp_at = coalesce(@stamp_at, stamp_at),
  read_claim = @read_claim, read_at = @read_at, unchanged_reads = @unchanged_reads,
  unchanged_first_started_at = @unchanged_first_started_at,
  unchanged_first_finished_at = @unchanged_first_finished_at,
  unchanged_last_finished_at = @unchanged_last_finished_at,
  unchanged_requests = @unchanged_requests, unchanged_bytes = @unchanged_bytes`;
const WHOSE = 'organization_id = @organizationId AND resource = @resource';
const LEAVE_OPEN = statement<Written>(`UPDATE mirror.resource_states SET ${WRITTEN} WHERE ${WHOSE}`);
const LEAVE_ENDED = statement<Ended>(
  `UPDATE mirror.resource_states SET ${WRITTEN}, as_of = coalesce(@as_of, as_of),
     first_complete_at = coalesce(first_complete_at, @whole_at), attempted_at = @read_at, outcome = @outcome,
     error_code = @error_code, error = @error,
     failing_since = CASE WHEN @is_whole = 0 THEN coalesce(failing_since, @read_at) END,
     webhook_failed = CASE WHEN @is_whole = 1 THEN 0 WHEN webhook_failed = 1 THEN 1 ELSE @is_for_webhook END,
     no_permission_at = CASE WHEN @is_failed = 1 THEN no_permission_at END,
     not_offered_at = CASE WHEN @is_failed = 1 THEN not_offered_at END,
     refusals = CASE WHEN @is_failed = 1 THEN refusals ELSE 0 END,
     drift_total = drift_total + @drift,
     answer_status = coalesce(@answer_status, answer_status), answer_form = coalesce(@answer_form, answer_form),
     answer_text = CASE WHEN @is_answered = 1 THEN @answer_text ELSE answer_text END,
     last_answer_at = coalesce(@last_answer_at, last_answer_at),
     page_size = CASE WHEN @is_sized = 1 THEN @page_size ELSE page_size END,
     every_seconds = CASE WHEN @is_paced = 1 THEN @every_seconds ELSE every_seconds END,
     requests = coalesce(@calls, requests), owner_named = coalesce(@owner_named, owner_named),
     duration_ms = coalesce(@duration_ms, duration_ms),
     page_digests = CASE WHEN @is_listed = 1 THEN @page_digests ELSE page_digests END
   WHERE ${WHOSE}`,
);

const LONGEST_CALL_MS = 60_000;
const NOTHING: ChangeCounts = { added: 0, changed: 0, removed: 0, unchanged: 0 };

/** So many numbers of the counter, under the lock of all who write versions: theirs are seen in the order of the numbers. */
export function reserveVersions(count: number): BoundStatement<{ readonly last: number }> | null {
  return count === 0 ? null : NUMBERS({ count });
}

/** What every write of a sync begins with. Its row is entered with the first. */
export function listStartStatements({ request, part, id }: OpenSync, wanted: number, isUnchanged = false) {
  const { organizationId, resource, claim, trigger, startedAt, cause } = request;
  const at = formatInstant(startedAt);
  const row = { organizationId, resource, trigger, claim, at, ...toCauseColumns(cause) };
  return [
    ...raiseFence({ organizationId, part, claim }),
    INSTALLATIONS({ organizationId }),
    STATE({ organizationId, resource }),
    id === null ? ensureStates(organizationId, [resource]) : null,
    reserveVersions(wanted) ?? (id === null && !isUnchanged ? LOCK_COUNTER() : null),
    // Under the lock of the counter, so that syncs of several workers appear in the order of their ids: the evidence log
    // seals everything up to the newest id that it sees.
    id === null && !isUnchanged ? ENTER(row) : null,
  ] as const;
}

interface StartRows {
  readonly seen: readonly { readonly claim: number }[];
  readonly installations: readonly { readonly state: string }[];
  readonly states: readonly StoredState[];
  readonly ids: readonly { readonly id: number }[];
  readonly last: readonly { readonly last: number }[];
}

/** A sync within one transaction of its own. */
export interface SyncCommit {
  readonly sync: OpenSync;
  readonly id: number;
  /** The first of the numbers that are its own. */
  readonly firstVersion: number;
  readonly clock: VersionClock;
  /** The state of the resource before this transaction. */
  readonly state: StoredState | undefined;
}

/** Throws once a newer claim, read or suspension was seen. */
export function startCommit(
  sync: OpenSync,
  wanted: number,
  { seen, installations, states, ids, last }: StartRows,
): SyncCommit {
  const { organizationId, claim, startedAt } = sync.request;
  assertNotFenced(seen, { organizationId, part: sync.part, claim });
  if (installations.length > 0 && installations.every(({ state }) => state !== 'active')) {
    throw new MirrorError('not_active', 'the organization has no active installation any more');
  }
  const [state] = states;
  if (state?.read_claim === claim && (state.read_at ?? '') > formatInstant(startedAt)) {
    throw new MirrorError('stale_read', 'a newer read of the same resource has already written');
  }
  return {
    sync,
    id: sync.id ?? ids[0]?.id ?? 0,
    firstVersion: (last[0]?.last ?? wanted) - wanted + 1,
    clock: new VersionClock(sync.latestInstant),
    state,
  };
}

export interface CommitEnd {
  /** What the books are observedAt, in the same message as the rows. */
  readonly statements: readonly (BoundStatement | null)[];
  readonly result: CommitResult;
}

export function endCommit(
  { sync, id, clock: dates, state }: SyncCommit,
  counts: Partial<ChangeCounts>,
): CommitEnd {
  const done = { ...NOTHING, ...counts };
  return {
    statements: [
      ...closeSpan(sync, state),
      COUNT_SYNC({ id, ...countColumns(sync.counts, done) }),
      LEAVE_OPEN({ ...written(sync, done, dates), ...NO_SPAN, open_sync: id }),
    ],
    result: { syncId: id, latestInstant: dates.latest, drift: 0, ...done },
  };
}

interface EndOptions {
  /** Hashes of the addresses of people who may not be named. */
  readonly forgotten: readonly { readonly hash: string }[];
  /** Whether the read is counted in a span instead of a row in `syncs`. */
  readonly isUnchanged: boolean;
}

/** Returns the last writes of a sync: as `leave` does, and the end of the sync, or the span that counts an unchanged read. */
export function endSync(
  { sync, id, clock: dates, state: stored }: SyncCommit,
  counts: Partial<ChangeCounts>,
  ending: SyncCompletion,
  { forgotten, isUnchanged }: EndOptions,
): CommitEnd {
  const done = { ...NOTHING, ...counts };
  const { request, hasPartialRows: isOpen } = sync;
  const { endedAt, state, isInterrupted } = ending;
  const { answer_text: told, ...columns } = endingColumns(sync, ending);
  const startedAt = formatInstant(request.startedAt);
  const isWhole = state === 'complete';
  const drift = sync.countsAsDrift ? changesOf(sync.counts) + changesOf(done) : 0;
  const isKept = told !== null && isFreeOfForgottenPeople(new Set(forgotten.map(({ hash }) => hash)), told);
  const span = isUnchanged ? extendSpan(sync, stored, ending) : NO_SPAN;
  const isExtended = span.unchanged_reads > 1;
  const ended = LEAVE_ENDED({
    ...written(sync, done, dates),
    ...span,
    ...columns,
    as_of: isWhole ? startedAt : null,
    whole_at: isWhole ? dates.clampToLatest(formatInstant(endedAt)) : null,
    outcome: state,
    is_whole: Number(isWhole),
    is_failed: Number(state === 'failed'),
    is_answered: Number(columns.last_answer_at !== null),
    open_sync: isInterrupted && isOpen ? id : null,
    drift,
    answer_text: isKept ? told : null,
  });
  const syncEnd = { ...endOf(id, ending), state, drift, ...countColumns(sync.counts, done) };
  return {
    statements: [
      ...(isExtended ? [] : closeSpan(sync, stored)),
      isUnchanged ? null : END_SYNC(syncEnd),
      ended,
    ],
    result: { syncId: isUnchanged ? null : id, latestInstant: dates.latest, drift, ...done },
  };
}

const NO_SPAN: SpanState = {
  unchanged_reads: 0,
  unchanged_first_started_at: null,
  unchanged_first_finished_at: null,
  unchanged_last_finished_at: null,
  unchanged_requests: 0,
  unchanged_bytes: 0,
};

/** Ends the open span of unchanged reads if there is one. The lock keeps ids in the order of commits, as those of syncs. */
function closeSpan(
  { request: { organizationId, resource } }: OpenSync,
  state: StoredState | undefined,
): (BoundStatement | null)[] {
  const isOpen = (state?.unchanged_reads ?? 0) > 0;
  return isOpen ? [LOCK_COUNTER(), CLOSE_SPAN({ organizationId, resource })] : [];
}

/**
 * Returns the open span with one more read. A new span begins on each UTC day, and when the clock was set back, so that the
 * instants of a span always rise.
 */
function extendSpan(
  { request }: OpenSync,
  state: StoredState | undefined,
  { endedAt, requests, bytes }: SyncCompletion,
): SpanState {
  const startedAt = formatInstant(request.startedAt);
  const finishedAt = formatInstant(endedAt);
  const continues =
    state !== undefined &&
    state.unchanged_reads > 0 &&
    dayOf(state.unchanged_first_started_at) === dayOf(startedAt) &&
    (state.as_of ?? '') <= startedAt &&
    (state.unchanged_last_finished_at ?? '') <= finishedAt;
  const previous = continues ? state : NO_SPAN;
  return {
    unchanged_reads: previous.unchanged_reads + 1,
    unchanged_first_started_at: previous.unchanged_first_started_at ?? startedAt,
    unchanged_first_finished_at: previous.unchanged_first_finished_at ?? finishedAt,
    unchanged_last_finished_at: finishedAt,
    unchanged_requests: previous.unchanged_requests + requests,
    unchanged_bytes: previous.unchanged_bytes + bytes,
  };
}

/** Returns the UTC day of an instant as text. */
function dayOf(instant: string | null): string {
  return (instant ?? '').slice(0, 10);
}

/** Who is to be asked for before the end of a sync is written. */
export function listForgottenFor(ending: SyncCompletion | null) {
  return (ending?.answer?.text ?? null) === null ? null : LIST_FORGOTTEN();
}

/** The row of a sync that may not write any more. */
export function endRefusedSync({ id, counts }: OpenSync, ending: SyncCompletion) {
  if (id === null) return null;
  return END_SYNC({ ...endOf(id, ending), state: 'failed', drift: 0, ...countColumns(counts, NOTHING) });
}

function written({ request }: OpenSync, done: ChangeCounts, dates: VersionClock) {
  const { organizationId, resource, claim, startedAt } = request;
  return {
    organizationId,
    resource,
    rows: done.added - done.removed,
    stamp_at: dates.latest,
    read_claim: claim,
    read_at: formatInstant(startedAt),
  };
}

function changesOf({ added, changed, removed }: ChangeCounts): number {
  return added + changed + removed;
}

function countColumns(before: ChangeCounts, done: ChangeCounts) {
  return {
    rows_added: before.added + done.added,
    rows_changed: before.changed + done.changed,
    rows_removed: before.removed + done.removed,
    rows_unchanged: before.unchanged + done.unchanged,
    is_changed: Number(changesOf(done) > 0),
  };
}

function endOf(id: number, { endedAt, lastAnswerAt = null, requests, bytes, fault }: SyncCompletion) {
  return {
    id,
    finished_at: formatInstant(endedAt),
    last_answer_at: lastAnswerAt === null ? null : formatInstant(lastAnswerAt),
    requests,
    bytes,
    error_code: fault?.code ?? null,
    error: fault?.message ?? null,
  };
}

/** What the end of a read says of its resource; null where that stays as it was. */
function endingColumns({ request }: OpenSync, ending: SyncCompletion) {
  const { endedAt, state, fault, requests, pageSize, everySeconds, ownerNamed, answer = null } = ending;
  const isWhole = state === 'complete';
  return {
    /** A retry that answers none of itself leaves what failed before it as it is. No webhook announces a project. */
    is_for_webhook: Number(
      request.resource !== 'projects' &&
        (request.trigger === 'delivery' || typeof request.cause?.newestDeliveryId === 'number'),
    ),
    error_code: fault?.code ?? null,
    error: fault?.message ?? null,
    duration_ms: isWhole ? durationOf(request.startedAt, endedAt, requests) : null,
    /** Whether `page_digests` is to be written. */
    is_listed: Number(ending.pageDigests !== undefined),
    page_digests: ending.pageDigests ?? null,
    /** Whether `page_size` is to be written. */
    is_sized: Number(pageSize !== undefined),
    page_size: pageSize ?? null,
    is_paced: Number(isWhole && everySeconds !== undefined),
    every_seconds: everySeconds ?? null,
    calls: isWhole ? requests : null,
    owner_named: ownerNamed !== undefined && (isWhole || ownerNamed) ? Number(ownerNamed) : null,
    answer_status: answer?.status ?? null,
    answer_form: answer?.form ?? null,
    answer_text: toReadableText(answer?.text ?? null),
    last_answer_at: answer === null ? null : formatInstant(answer.at),
  };
}

/** A clock that was put forward meanwhile makes no read long: a list that takes long is read less often. */
function durationOf(startedAt: number, endedAt: number, requests: number): number {
  return Math.min(Math.max(0, endedAt - startedAt), (requests + 1) * LONGEST_CALL_MS);
}

/** What a sync says of who asked for it. */
export function toCauseColumns(cause: SyncCause | undefined) {
  return { job_id: cause?.jobId ?? null, newest_delivery_id: cause?.newestDeliveryId ?? null };
}
