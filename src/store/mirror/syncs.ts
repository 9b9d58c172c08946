import { sql, type Expression, type RawBuilder } from 'kysely';
import { VersionClock } from '../../mirror/version-clock.js';
import { MirrorError } from '../../mirror/mirror-error.js';
import type {
  SyncCause,
  CommitResult,
  ChangeCounts,
  SyncCompletion,
  OpenSync,
} from '../../mirror/port/sync.js';
import { containsNoForgottenEmail } from '../../mirror/forgotten-people.js';
import { formatInstant, toReadableText } from '../../resources/sql-values.js';
import type { Tables } from '../contract/tables.js';
import { insertFrom, tableRef } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import {
  batchByName,
  type BoundStatement,
  type NamedResults,
  type NamedStatements,
  type RunBatch,
} from '../statement.js';
import { assertNotFenced, buildFenceStatements } from './fence.js';
import { buildStateInsert } from './list-states.js';
import { LIST_FORGOTTEN, LOCK_COUNTER } from './forget-people.js';

type Sync = Tables['syncs'];
type State = Tables['resource_states'];
/** Names one resource of an organization. */
type ResourceRef = { readonly organizationId: string; readonly resource: string };

const state = tableRef('mirror.resource_states');
const syncs = tableRef('mirror.syncs');
const counter = tableRef('mirror.version_counter');

const isOfResource = ({ organizationId, resource }: Params<ResourceRef>) =>
  sql<boolean>`${state.organization_id} = ${organizationId} AND ${state.resource} = ${resource}`;

/** Locks the installations of an organization, so that their states do not change during the transaction. */
const LOCK_INSTALLATIONS = prepared(
  ({ db }, { organizationId }: Params<{ readonly organizationId: string }>) =>
    db
      .selectFrom('mirror.installations')
      .select('state')
      .where('organization_id', '=', organizationId)
      .forShare(),
);
const READ_STATE = prepared(({ db }, params: Params<ResourceRef>) =>
  db
    .selectFrom('mirror.resource_states')
    .select([
      'read_claim',
      'read_at',
      'as_of',
      'unchanged_reads',
      'unchanged_first_started_at',
      'unchanged_first_finished_at',
      'unchanged_last_finished_at',
      'unchanged_requests',
      'unchanged_bytes',
    ])
    .where(isOfResource(params)),
);
/** The state of a resource before a commit. */
type PreviousState = ResultRow<typeof READ_STATE>;
/** The totals of a series of reads in succession that found nothing new. */
type UnchangedReads = Omit<PreviousState, 'read_claim' | 'read_at' | 'as_of'>;

/** Copies the current series of unchanged reads to `unchanged_spans`, the table of ended series. */
const ARCHIVE_UNCHANGED_READS = prepared((_, params: Params<ResourceRef>) =>
  insertFrom(
    'mirror.unchanged_spans',
    {
      organization_id: state.organization_id,
      resource: state.resource,
      first_started_at: state.unchanged_first_started_at.$notNull(),
      first_finished_at: state.unchanged_first_finished_at.$notNull(),
      last_started_at: state.as_of.$notNull(),
      last_finished_at: state.unchanged_last_finished_at.$notNull(),
      reads: state.unchanged_reads,
      requests: state.unchanged_requests,
      bytes: state.unchanged_bytes,
    },
    sql`FROM ${state()} WHERE ${isOfResource(params)} AND ${state.unchanged_reads} > 0`,
  ),
);
const RESERVE_VERSIONS = prepared(({ db }, { count }: Params<{ readonly count: number }>) =>
  db
    .updateTable('mirror.version_counter')
    .set(({ eb }) => ({ last: eb('last', '+', count) }))
    .returning('last'),
);
type NewSync = ResourceRef & Pick<Sync, 'trigger' | 'claim' | 'started_at' | 'job_id' | 'newest_delivery_id'>;
const INSERT_SYNC = prepared(({ db }, params: Params<NewSync>) =>
  db
    .insertInto('mirror.syncs')
    .values({
      ...pick(params, ['resource', 'trigger', 'claim', 'started_at', 'job_id', 'newest_delivery_id']),
      organization_id: params.organizationId,
      state: 'running',
    })
    .returning('id'),
);

type SyncCounts = Pick<Sync, 'id' | 'rows_added' | 'rows_changed' | 'rows_removed' | 'rows_unchanged'> & {
  /** 1 if this commit changed a row, so that the newest change belongs to this sync. */
  readonly is_changed: number;
};
type SyncEnd = SyncCounts &
  Pick<
    Sync,
    'finished_at' | 'last_answer_at' | 'state' | 'requests' | 'bytes' | 'drift' | 'error_code' | 'error'
  >;

const setCounts = (params: Params<SyncCounts>) => ({
  ...pick(params, ['rows_added', 'rows_changed', 'rows_removed', 'rows_unchanged']),
  changes_up_to: ifTrue(
    params.is_changed,
    sql<number>`(SELECT ${counter.last} FROM ${counter()})`,
    syncs.changes_up_to,
  ),
});
const UPDATE_COUNTS = prepared(({ db }, params: Params<SyncCounts>) =>
  db.updateTable('mirror.syncs').set(setCounts(params)).where('id', '=', params.id),
);
const END_SYNC = prepared(({ db }, params: Params<SyncEnd>) =>
  db
    .updateTable('mirror.syncs')
    .set({
      ...setCounts(params),
      ...pick(params, ['finished_at', 'last_answer_at', 'state', 'requests', 'bytes', 'drift']),
      ...pick(params, ['error_code', 'error']),
    })
    .where('id', '=', params.id)
    .where('finished_at', 'is', null),
);

type StateUpdate = ResourceRef &
  UnchangedReads &
  Pick<State, 'rows' | 'open_sync' | 'stamp_at'> & { readonly read_claim: number; readonly read_at: string };
type EndedStateUpdate = StateUpdate &
  ReturnType<typeof toEndedStateColumns> &
  Pick<State, 'as_of'> & {
    readonly drift: number;
    /** The end of this read if the read is complete, else null. */
    readonly complete_at: string | null;
    readonly outcome: string;
    readonly is_complete: number;
    readonly is_failed: number;
    readonly writes_answer_text: number;
  };

const setRead = (params: Params<StateUpdate>) => ({
  ...pick(params, ['open_sync', 'read_claim', 'read_at', 'unchanged_reads', 'unchanged_requests']),
  ...pick(params, ['unchanged_first_started_at', 'unchanged_first_finished_at']),
  ...pick(params, ['unchanged_last_finished_at', 'unchanged_bytes']),
  rows: sql<number>`${state.rows} + ${params.rows}`,
  stamp_at: coalesce(params.stamp_at, state.stamp_at),
});
const UPDATE_STATE = prepared(({ db }, params: Params<StateUpdate>) =>
  db.updateTable('mirror.resource_states').set(setRead(params)).where(isOfResource(params)),
);
const UPDATE_ENDED_STATE = prepared(({ db }, params: Params<EndedStateUpdate>) => {
  const { is_complete: isComplete, is_failed: isFailed, read_at: readAt } = params;
  return db
    .updateTable('mirror.resource_states')
    .set({
      ...setRead(params),
      ...pick(params, ['outcome', 'error_code', 'error']),
      as_of: coalesce(params.as_of, state.as_of),
      first_complete_at: coalesce(state.first_complete_at, params.complete_at),
      attempted_at: readAt,
      failing_since: ifTrue(isComplete, NULL, coalesce(state.failing_since, readAt)),
      webhook_failed: sql<number>`CASE WHEN ${isComplete} = 1 THEN 0 WHEN ${state.webhook_failed} = 1 THEN 1
        ELSE ${params.is_for_webhook} END`,
      no_permission_at: ifTrue(isFailed, state.no_permission_at, NULL),
      not_offered_at: ifTrue(isFailed, state.not_offered_at, NULL),
      refusals: ifTrue(isFailed, state.refusals, sql.lit(0)),
      drift_total: sql<number>`${state.drift_total} + ${params.drift}`,
      answer_status: coalesce(params.answer_status, state.answer_status),
      answer_form: coalesce(params.answer_form, state.answer_form),
      answer_text: ifTrue(params.writes_answer_text, params.answer_text, state.answer_text),
      last_answer_at: coalesce(params.last_answer_at, state.last_answer_at),
      page_size: ifTrue(params.writes_page_size, params.page_size, state.page_size),
      every_seconds: ifTrue(params.writes_every_seconds, params.every_seconds, state.every_seconds),
      requests: coalesce(params.complete_requests, state.requests),
      owner_named: coalesce(params.owner_named, state.owner_named),
      duration_ms: coalesce(params.duration_ms, state.duration_ms),
      page_digests: ifTrue(params.writes_page_digests, params.page_digests, state.page_digests),
    })
    .where(isOfResource(params));
});

const LONGEST_CALL_MS = 60_000;
const NO_CHANGES: ChangeCounts = { added: 0, changed: 0, removed: 0, unchanged: 0 };

/** Returns an SQL expression for `value`, or for `other` if `value` is NULL. */
function coalesce<T>(value: Expression<T | null>, other: Expression<T>): RawBuilder<T> {
  return sql`coalesce(${value}, ${other})`;
}

const NULL: RawBuilder<null> = sql`NULL`;

/** Returns an SQL expression for `value` if the flag is 1, else for `other`. */
function ifTrue<T, U>(
  flag: Expression<number>,
  value: Expression<T>,
  other: Expression<U>,
): RawBuilder<T | U> {
  return sql`CASE WHEN ${flag} = 1 THEN ${value} ELSE ${other} END`;
}

/** Picks parameters that have the same names as columns. */
function pick<Given, Name extends keyof Given>(
  params: Params<Given>,
  names: readonly Name[],
): Pick<Params<Given>, Name>;
function pick(params: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  return Object.fromEntries(names.map(name => [name, params[name]]));
}

/**
 * Builds the statement that reserves version numbers; null if `count` is 0. The counter stays locked until the transaction ends,
 * so versions become visible in the order of their numbers.
 */
export function buildVersionReservation(count: number) {
  return count === 0 ? null : RESERVE_VERSIONS({ count });
}

/** A commit of a sync. Each is one transaction. */
export interface SyncCommit {
  readonly sync: OpenSync;
  readonly id: number;
  /** The first of the version numbers that are reserved for this commit. */
  readonly firstVersion: number;
  readonly clock: VersionClock;
  /** The state of the resource before this transaction. */
  readonly previousState: PreviousState | undefined;
}

/** A commit that is about to begin. */
interface NewCommit {
  readonly sync: OpenSync;
  /** How many version numbers the commit may use. */
  readonly versionCount: number;
  /** Whether the whole read found nothing new. Such a read gets no row in `syncs`. */
  readonly isUnchanged?: boolean;
}

/**
 * Begins a commit of a sync: takes locks, raises the fencing token, reserves version numbers, and inserts the row of a new sync.
 * Runs the queries in `reads` under these locks and returns their rows too. Throws a `MirrorError` if a newer claim or a newer
 * read has written, or if the organization has no active installation.
 */
export async function beginCommit<const Reads extends NamedStatements>(
  batch: RunBatch,
  { sync, versionCount, isUnchanged = false }: NewCommit,
  reads: Reads,
): Promise<{ readonly commit: SyncCommit; readonly rows: NamedResults<Reads> }> {
  const { organizationId, resource, claim, trigger, startedAt, cause } = sync.request;
  const writeClaim = { organizationId, part: sync.part, claim };
  const started_at = formatInstant(startedAt);
  const isNew = sync.id === null;
  const [raisedFence, readFence] = buildFenceStatements(writeClaim);
  const first = {
    raisedFence,
    fences: readFence,
    installations: LOCK_INSTALLATIONS({ organizationId }),
    states: READ_STATE({ organizationId, resource }),
    newState: isNew ? buildStateInsert(organizationId, [resource]) : null,
    reservation: buildVersionReservation(versionCount) ?? (isNew && !isUnchanged ? LOCK_COUNTER() : null),
    // The lock on the counter makes syncs of several workers visible in the order of their ids. The evidence log seals
    // everything up to the newest id that it sees.
    newSync:
      isNew && !isUnchanged
        ? INSERT_SYNC({ organizationId, resource, trigger, claim, started_at, ...toCauseColumns(cause) })
        : null,
  };
  const [{ fences, installations, states, reservation, newSync }, rows] = await batchByName(
    batch,
    first,
    reads,
  );
  assertNotFenced(fences, writeClaim);
  if (installations.length > 0 && installations.every(row => row.state !== 'active')) {
    throw new MirrorError('not_active', 'the organization has no active installation any more');
  }
  const [previousState] = states;
  if (previousState?.read_claim === claim && (previousState.read_at ?? '') > started_at) {
    throw new MirrorError('stale_read', 'a newer read of the same resource has already written');
  }
  const commit: SyncCommit = {
    sync,
    id: sync.id ?? newSync[0]?.id ?? 0,
    firstVersion: (reservation[0]?.last ?? versionCount) - versionCount + 1,
    clock: new VersionClock(sync.latestInstant),
    previousState,
  };
  return { commit, rows };
}

/** The last statements of a commit, and the result that its caller returns. */
export interface CommitEnd {
  readonly statements: readonly (BoundStatement | null)[];
  readonly result: CommitResult;
}

/** Builds the last statements of a commit that does not end its sync, and returns them with the result of the commit. */
export function buildCommitEnd(
  { sync, id, clock, previousState }: SyncCommit,
  changes: Partial<ChangeCounts>,
): CommitEnd {
  const counts = { ...NO_CHANGES, ...changes };
  return {
    statements: [
      ...buildSeriesArchive(sync, previousState),
      UPDATE_COUNTS({ id, ...toCountColumns(sync.counts, counts) }),
      UPDATE_STATE({ ...toStateColumns(sync, counts, clock), ...NO_UNCHANGED_READS, open_sync: id }),
    ],
    result: { syncId: id, latestInstant: clock.latest, drift: 0, ...counts },
  };
}

interface EndOptions {
  /** Hashes of the email addresses of forgotten people, who must not appear in a stored answer. */
  readonly forgotten: readonly { readonly hash: string }[];
  /** Whether the whole read found nothing new. */
  readonly isUnchanged: boolean;
}

/**
 * Builds the last statements of the commit that ends a sync, and the result of the commit. An unchanged read gets no row in
 * `syncs`: it only increases the count of unchanged reads in `resource_states`.
 */
export function buildSyncEnd(
  { sync, id, clock, previousState }: SyncCommit,
  changes: Partial<ChangeCounts>,
  completion: SyncCompletion,
  { forgotten, isUnchanged }: EndOptions,
): CommitEnd {
  const counts = { ...NO_CHANGES, ...changes };
  const { request, hasPartialRows } = sync;
  const { endedAt, state: outcome, isInterrupted } = completion;
  const { answer_text: answerText, ...columns } = toEndedStateColumns(sync, completion);
  const isComplete = outcome === 'complete';
  const drift = sync.countsAsDrift ? countChanges(sync.counts) + countChanges(counts) : 0;
  const hashes = new Set(forgotten.map(({ hash }) => hash));
  const mayStoreAnswer = answerText !== null && containsNoForgottenEmail(hashes, answerText);
  const unchangedReads = isUnchanged
    ? countUnchangedRead(sync, previousState, completion)
    : NO_UNCHANGED_READS;
  const continuesSeries = unchangedReads.unchanged_reads > 1;
  const endState = UPDATE_ENDED_STATE({
    ...toStateColumns(sync, counts, clock),
    ...unchangedReads,
    ...columns,
    as_of: isComplete ? formatInstant(request.startedAt) : null,
    complete_at: isComplete ? clock.clampToLatest(formatInstant(endedAt)) : null,
    outcome,
    is_complete: Number(isComplete),
    is_failed: Number(outcome === 'failed'),
    writes_answer_text: Number(columns.last_answer_at !== null),
    open_sync: isInterrupted && hasPartialRows ? id : null,
    drift,
    answer_text: mayStoreAnswer ? answerText : null,
  });
  const end = {
    ...toSyncEndColumns(id, completion),
    state: outcome,
    drift,
    ...toCountColumns(sync.counts, counts),
  };
  return {
    statements: [
      ...(continuesSeries ? [] : buildSeriesArchive(sync, previousState)),
      isUnchanged ? null : END_SYNC(end),
      endState,
    ],
    result: { syncId: isUnchanged ? null : id, latestInstant: clock.latest, drift, ...counts },
  };
}

const NO_UNCHANGED_READS: UnchangedReads = {
  unchanged_reads: 0,
  unchanged_first_started_at: null,
  unchanged_first_finished_at: null,
  unchanged_last_finished_at: null,
  unchanged_requests: 0,
  unchanged_bytes: 0,
};

/**
 * Builds the statements that copy the current series of unchanged reads to `unchanged_spans`. Returns an empty array if there is no such
 * series. The statements lock the version counter, so that the rows of `unchanged_spans` become visible in the order of their ids.
 */
function buildSeriesArchive(
  { request: { organizationId, resource } }: OpenSync,
  previousState: PreviousState | undefined,
): BoundStatement[] {
  const isOpen = (previousState?.unchanged_reads ?? 0) > 0;
  return isOpen ? [LOCK_COUNTER(), ARCHIVE_UNCHANGED_READS({ organizationId, resource })] : [];
}

/**
 * Adds a read that found nothing new to the current series of such reads, and returns the new totals of the series. Begins a new
 * series on each UTC day, and after the clock was set back, so that the instants of a series never decrease.
 */
function countUnchangedRead(
  { request }: OpenSync,
  previousState: PreviousState | undefined,
  { endedAt, requests, bytes }: SyncCompletion,
): UnchangedReads {
  const startedAt = formatInstant(request.startedAt);
  // The clock may be set back during a read.
  const finishedAt = formatInstant(Math.max(request.startedAt, endedAt));
  const continues =
    previousState !== undefined &&
    previousState.unchanged_reads > 0 &&
    toUtcDay(previousState.unchanged_first_started_at) === toUtcDay(startedAt) &&
    (previousState.as_of ?? '') <= startedAt &&
    (previousState.unchanged_last_finished_at ?? '') <= finishedAt;
  const previous = continues ? previousState : NO_UNCHANGED_READS;
  return {
    unchanged_reads: previous.unchanged_reads + 1,
    unchanged_first_started_at: previous.unchanged_first_started_at ?? startedAt,
    unchanged_first_finished_at: previous.unchanged_first_finished_at ?? finishedAt,
    unchanged_last_finished_at: finishedAt,
    unchanged_requests: previous.unchanged_requests + requests,
    unchanged_bytes: previous.unchanged_bytes + bytes,
  };
}

/** Returns the UTC day of an instant. */
function toUtcDay(instant: string | null): string {
  return (instant ?? '').slice(0, 10);
}

/** Builds the query for forgotten people if a sync stores the text of an answer, which might name one of them; else null. */
export function buildForgottenQuery(completion: SyncCompletion | null) {
  return (completion?.answer?.text ?? null) === null ? null : LIST_FORGOTTEN();
}

/**
 * Builds the statement that marks a sync as failed, because one of its commits was refused with an error. Returns null if the sync has no
 * row in `syncs` yet.
 */
export function buildFailedSyncEnd({ id, counts }: OpenSync, completion: SyncCompletion) {
  if (id === null) return null;
  const columns = { ...toSyncEndColumns(id, completion), ...toCountColumns(counts, NO_CHANGES) };
  return END_SYNC({ ...columns, state: 'failed', drift: 0 });
}

/** Returns the values of the columns of `resource_states` that every commit of a sync writes. */
function toStateColumns({ request }: OpenSync, counts: ChangeCounts, clock: VersionClock) {
  const { organizationId, resource, claim, startedAt } = request;
  return {
    organizationId,
    resource,
    rows: counts.added - counts.removed,
    stamp_at: clock.latest,
    read_claim: claim,
    read_at: formatInstant(startedAt),
  };
}

function countChanges({ added, changed, removed }: ChangeCounts): number {
  return added + changed + removed;
}

/** Adds the counts of a commit to those of the earlier commits of the sync, and returns them as columns of `syncs`. */
function toCountColumns(previous: ChangeCounts, counts: ChangeCounts) {
  return {
    rows_added: previous.added + counts.added,
    rows_changed: previous.changed + counts.changed,
    rows_removed: previous.removed + counts.removed,
    rows_unchanged: previous.unchanged + counts.unchanged,
    is_changed: Number(countChanges(counts) > 0),
  };
}

/** Returns the values of the columns of `syncs` that describe how a sync ended. */
function toSyncEndColumns(
  id: number,
  { endedAt, lastAnswerAt = null, requests, bytes, fault }: SyncCompletion,
) {
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

/**
 * Returns the values of the columns of `resource_states` that only the last commit of a sync writes. Some columns have a flag:
 * `writes_page_size` is 1 to store the new `page_size`, and 0 to keep the stored one.
 */
function toEndedStateColumns({ request }: OpenSync, completion: SyncCompletion) {
  const {
    endedAt,
    state: outcome,
    fault,
    requests,
    pageSize,
    everySeconds,
    answersNameOrganization,
  } = completion;
  const { answer = null } = completion;
  const isComplete = outcome === 'complete';
  return {
    /** 1 if the read answers a delivery. No delivery announces a project. */
    is_for_webhook: Number(
      request.resource !== 'projects' &&
        (request.trigger === 'delivery' || typeof request.cause?.newestDeliveryId === 'number'),
    ),
    error_code: fault?.code ?? null,
    error: fault?.message ?? null,
    duration_ms: isComplete ? limitDuration(request.startedAt, endedAt, requests) : null,
    writes_page_digests: Number(completion.pageDigests !== undefined),
    page_digests: completion.pageDigests ?? null,
    writes_page_size: Number(pageSize !== undefined),
    page_size: pageSize ?? null,
    writes_every_seconds: Number(isComplete && everySeconds !== undefined),
    every_seconds: everySeconds ?? null,
    complete_requests: isComplete ? requests : null,
    owner_named:
      answersNameOrganization !== undefined && (isComplete || answersNameOrganization)
        ? Number(answersNameOrganization)
        : null,
    answer_status: answer?.status ?? null,
    answer_form: answer?.form ?? null,
    answer_text: toReadableText(answer?.text ?? null),
    last_answer_at: answer === null ? null : formatInstant(answer.at),
  };
}

/** Limits a duration by the number of requests. Slow lists are read less often, and a clock change must not make a list slow. */
function limitDuration(startedAt: number, endedAt: number, requests: number): number {
  return Math.min(Math.max(0, endedAt - startedAt), (requests + 1) * LONGEST_CALL_MS);
}

/** Returns the columns for the job that runs a sync and the newest delivery that the job answers. */
export function toCauseColumns(cause: SyncCause | undefined) {
  return { job_id: cause?.jobId ?? null, newest_delivery_id: cause?.newestDeliveryId ?? null };
}
