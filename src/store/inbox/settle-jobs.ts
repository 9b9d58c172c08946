import { type RawBuilder, sql } from 'kysely';
import {
  type JobSettlement,
  type JobEnd,
  MAX_ATTEMPTS,
  PAUSED_ATTEMPTS,
  RETRY_SOON_MS,
  UNCHANGED_OUTCOME,
} from '../../inbox/job.js';
import { PACES_MS } from '../../inbox/pace.js';
import type { InboxPort } from '../../inbox/port.js';
import type { Table } from '../dialect.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import type { BoundStatement } from '../statement.js';
import { isClaimed, buildJobLock } from './claims.js';
import type { NowParam, InboxDatabase } from './inbox-database.js';
import type { FinishedJob, JobQueue } from './job-steps.js';

type EndValues = NowParam & {
  readonly id: number;
  readonly claim: number;
  readonly code: string | null;
  readonly message: string | null;
  readonly delayMs: number;
  readonly outcome: string | null;
};
type EndParams = Params<EndValues>;
/** Builds the SQL expression for one column of a job that ends or is retried, such as its next run time. */
type ColumnValue = (fn: SqlFunctions, params: EndParams) => RawBuilder<string>;
/** Builds the assignments after SET in an UPDATE of a job. */
type Assignments = (fn: SqlFunctions, params: EndParams) => RawBuilder<unknown>;
/** Builds the SQL condition that selects the job to update. */
type JobCondition = (params: EndParams) => RawBuilder<unknown>;

const own = tableRef('inbox.jobs');
const upcoming = tableRef('inbox.jobs', 'upcoming');
const mine = tableRef('inbox.jobs', 'mine');

const hasFailed: JobCondition = ({ id }) => sql`${own.id} = ${id} AND ${own.state} = 'failed'`;
const isUpcoming = sql`${own.state} IN ('waiting', 'paused')`;
const now: ColumnValue = (fn, params) => fn.clock(params.now);
const afterDelay: ColumnValue = (fn, params) => fn.addMs(now(fn, params), params.delayMs);
const setError = ({ code, message }: EndParams) =>
  sql`${own.error_or_pause_code} = coalesce(${code}, ${own.error_or_pause_code}),
    ${own.last_error} = coalesce(${message}, ${own.last_error})`;

/**
 * Prepares an UPDATE of the job that meets `condition`. The UPDATE clears the lease, sets the columns in `assignments`, and returns the id
 * and claim number of the job, and the job into which it is merged.
 */
function prepareJobUpdate(assignments: Assignments, condition: JobCondition) {
  return prepared(
    ({ fn }, params: EndParams) =>
      sqlStatement`UPDATE ${own()} SET ${own.claimed_until} = NULL, ${assignments(fn, params)} WHERE ${condition(params)}
        RETURNING ${select({ id: own.id, claim: own.claim, mergedInto: own.merged_into })}`,
  );
}
/** The row that an UPDATE of a job returns. */
type UpdatedJobRow = ResultRow<ReturnType<typeof prepareJobUpdate>>;

/** Stores in a job the id of the waiting job with the same dedupe key, and locks the waiting job. */
const pointToUpcoming = (condition: JobCondition) =>
  prepared(
    ({ fn }, params: EndParams) =>
      sqlStatement`UPDATE ${own()} SET ${own.merged_into} = (
          SELECT ${upcoming.id} FROM ${upcoming()} WHERE ${upcoming.dedupe_key} = jobs.dedupe_key
            AND ${upcoming.state} IN ('waiting', 'paused') ${fn.forUpdate})
        WHERE ${condition(params)}`,
  );

/** Returns the earliest start that the pace of the dedupe key allows. */
const earliestByPace: ColumnValue = (fn, params) => {
  const started = tableRef('inbox.jobs', 'started');
  const lastStart = sql<string>`(SELECT max(${started.started_at}) FROM ${started()} WHERE ${started.dedupe_key} = ${upcoming.dedupe_key})`;
  return fn.addMs(fn.least(lastStart, now(fn, params)), sql.lit(PACES_MS[0]));
};

/**
 * Builds an SQL expression for the new run time of a waiting job into which another job is merged. The new run time is the earlier one of
 * the run times of both jobs, or the latest of `lowerBounds` if that is later.
 */
function buildEarlierRunTime(...lowerBounds: readonly ColumnValue[]): ColumnValue {
  return (fn, params) => {
    const earlier = fn.least(upcoming.run_at, afterDelay(fn, params));
    return fn.greatest(earlier, ...lowerBounds.map(bound => bound(fn, params)));
  };
}

/** Keeps the run time of a job that a person requested, because people do not wait for a backoff. */
const unlessPersonAsked =
  (runTime: ColumnValue): ColumnValue =>
  (fn, params) =>
    sql`CASE ${upcoming.trigger} WHEN 'person' THEN ${upcoming.run_at} ELSE ${runTime(fn, params)} END`;

/** Merges the request of a job into the upcoming job. The job with the higher id names the newer installation. */
const updateUpcoming = (
  condition: JobCondition,
  runAt: ColumnValue,
  extraColumns: ColumnValue = () => sql``,
) =>
  prepared(
    ({ fn }, params: EndParams) => sqlStatement`UPDATE ${upcoming()} SET ${own.state} = 'waiting',
      ${own.trigger} = CASE WHEN 'person' IN (${upcoming.trigger}, ${mine.trigger}) THEN 'person'
        WHEN ${mine.trigger} = 'delivery' THEN 'delivery' ELSE ${upcoming.trigger} END,
      ${own.priority} = ${fn.least(upcoming.priority, mine.priority)},
      ${own.only_duplicates_asked} = ${fn.least(upcoming.only_duplicates_asked, mine.only_duplicates_asked)},
      ${own.payload} = ${fn.mergePayloads(upcoming.payload, mine.payload)},
      ${own.installation_id} = CASE WHEN ${mine.id} > ${upcoming.id}
        THEN coalesce(${mine.installation_id}, ${upcoming.installation_id})
        ELSE coalesce(${upcoming.installation_id}, ${mine.installation_id}) END,
      ${own.error_or_pause_code} = coalesce(${params.code}, ${mine.error_or_pause_code}),
      ${own.last_error} = coalesce(${params.message}, ${mine.last_error}),
      ${own.run_at} = ${runAt(fn, params)}${extraColumns(fn, params)}
      FROM (SELECT * FROM ${own()} WHERE ${condition(params)}) AS mine WHERE ${upcoming.id} = ${mine.merged_into}`,
  );

/**
 * Prepares the statements that merge one job into the waiting job with the same dedupe key, if there is one. `condition` selects
 * the job to merge, and `runAt` is the new run time of the waiting job.
 */
function prepareMerge(condition: JobCondition, runAt: ColumnValue, extraColumns?: ColumnValue) {
  return [
    pointToUpcoming(condition),
    updateUpcoming(condition, runAt, extraColumns),
    prepareJobUpdate(
      (fn, params) =>
        sql`${own.state} = 'done', ${own.finished_at} = ${now(fn, params)}, ${own.outcome} = 'merged', ${setError(params)}`,
      params => sql`${condition(params)} AND ${own.merged_into} IS NOT NULL`,
    ),
  ];
}

const setFailed = (fn: SqlFunctions, params: EndParams) =>
  sql`${own.state} = 'failed', ${own.finished_at} = ${now(fn, params)}, ${setError(params)}`;
const setDone = (fn: SqlFunctions, params: EndParams, outcome: RawBuilder<string | null>) =>
  sql`${own.state} = 'done', ${own.finished_at} = ${now(fn, params)}, ${own.outcome} = ${outcome}`;
const setWaiting = (fn: SqlFunctions, params: EndParams) =>
  sql`${own.state} = 'waiting', ${own.run_at} = ${afterDelay(fn, params)}`;

const runAtByPace = unlessPersonAsked(buildEarlierRunTime(earliestByPace));
const runAtAfterBackoff = unlessPersonAsked(buildEarlierRunTime(earliestByPace, afterDelay));
const keepAttempts: ColumnValue = fn =>
  sql`, ${own.attempts} = ${fn.greatest(upcoming.attempts, mine.attempts)}`;

/**
 * Deletes earlier jobs of unchanged reads. Keeps the latest one, which says when the installation was last read, and jobs that
 * other jobs were merged into.
 */
const REMOVE_EARLIER_UNCHANGED = prepared((_, { id, claim }: EndParams) => {
  const latest = tableRef('inbox.jobs', 'latest');
  const merged = tableRef('inbox.jobs', 'merged');
  return sqlStatement`DELETE FROM ${own()} WHERE ${own.dedupe_key} = (
      SELECT ${latest.dedupe_key} FROM ${latest()} WHERE ${latest.id} = ${id} AND ${latest.claim} = ${claim})
    AND ${own.id} < ${id} AND ${own.state} = 'done' AND ${own.trigger} = 'schedule' AND ${own.outcome} = ${UNCHANGED_OUTCOME}
    AND NOT EXISTS (SELECT 1 FROM ${merged()}
      WHERE ${merged.dedupe_key} = jobs.dedupe_key AND ${merged.merged_into} = jobs.id)`;
});

type EndStatement = (values: EndValues) => BoundStatement<UpdatedJobRow>;

/** The statements for each way to end a job. They run in order; an update does nothing if an earlier one has ended the job. */
const ENDS: Readonly<Record<JobEnd['act'], readonly EndStatement[]>> = {
  done: [prepareJobUpdate((fn, params) => setDone(fn, params, params.outcome), isClaimed)],
  unchanged: [
    prepareJobUpdate((fn, params) => setDone(fn, params, sql.lit(UNCHANGED_OUTCOME)), isClaimed),
    REMOVE_EARLIER_UNCHANGED,
  ],
  fail: [prepareJobUpdate(setFailed, isClaimed)],
  retry: [
    prepareJobUpdate(setFailed, params => sql`${isClaimed(params)} AND ${own.attempts} >= ${MAX_ATTEMPTS}`),
    ...prepareMerge(isClaimed, runAtAfterBackoff, keepAttempts),
    prepareJobUpdate((fn, params) => sql`${setWaiting(fn, params)}, ${setError(params)}`, isClaimed),
  ],
  pause: [
    ...prepareMerge(isClaimed, runAtByPace),
    prepareJobUpdate(
      (fn, params) => sql`${own.state} = 'paused', ${own.run_at} = ${afterDelay(fn, params)},
        ${own.attempts} = ${fn.least(own.attempts, sql.lit(PAUSED_ATTEMPTS))}, ${setError(params)}`,
      isClaimed,
    ),
  ],
  release: [
    ...prepareMerge(isClaimed, runAtByPace),
    prepareJobUpdate(
      (fn, params) =>
        sql`${setWaiting(fn, params)}, ${setError(params)},
          ${own.attempts} = ${fn.greatest(sql`${own.attempts} - 1`, sql`0`)}`,
      isClaimed,
    ),
  ],
};
const RETRY_FAILED: readonly EndStatement[] = [
  ...prepareMerge(hasFailed, buildEarlierRunTime(earliestByPace)),
  prepareJobUpdate(
    (fn, params) =>
      sql`${own.state} = 'waiting', ${own.attempts} = 0, ${own.run_at} = ${now(fn, params)}, ${own.finished_at} = NULL`,
    hasFailed,
  ),
];

const LIST_FAILED = prepared(({ db }) =>
  db.selectFrom('inbox.jobs').select('id').where('state', '=', 'failed').orderBy('id', 'desc'),
);
const codeList = jsonRelation('given', { code: 'text' });
type ErrorCodeParams = { readonly codes: Table };
const hasGivenCode = (fn: SqlFunctions, { codes }: Params<ErrorCodeParams>) =>
  sql<boolean>`${own.error_or_pause_code} IN (SELECT ${codeList.columns.code} FROM ${codeList.from(fn, codes)})`;
const LIST_FAILED_WITH_CODE = prepared(({ db, fn }, params: Params<ErrorCodeParams>) =>
  db
    .selectFrom('inbox.jobs')
    .select('id')
    .where('state', '=', 'failed')
    .where(hasGivenCode(fn, params))
    .orderBy('id'),
);
const PRIORITIZE = prepared(({ fn }, params: Params<NowParam & ErrorCodeParams>) => {
  const soon = fn.addMs(fn.clock(params.now), sql.lit(RETRY_SOON_MS));
  return sqlStatement`UPDATE ${own()} SET ${own.state} = 'waiting', ${own.attempts} = 1, ${own.run_at} = ${own.created_at}
    WHERE ${own.id} IN (
      SELECT ${own.id} FROM ${upcoming()} WHERE ${isUpcoming}
        AND NOT (${own.attempts} > 0 AND ${own.run_at} <= ${own.created_at})
        AND (${hasGivenCode(fn, params)} OR (${own.kind} = 'retry' AND ${own.attempts} = 0 AND ${own.run_at} <= ${soon}))
      ORDER BY ${own.dedupe_key}, ${own.id} ${fn.forUpdateSkipLocked('upcoming')})
    RETURNING ${select({ id: own.id })}`;
});
const NOTIFY_WORKERS = prepared(({ fn }) => fn.notifyWorkers);

/**
 * Converts a `JobSettlement`, which says how a claimed job ended, to a `FinishedJob`. Returns null if the job is not done, for example
 * because it will be retried.
 */
function toFinishedJob({ claim, end }: JobSettlement): FinishedJob | null {
  const { id, claim: number } = claim;
  if (end.act === 'unchanged')
    return { id, claim: number, outcome: UNCHANGED_OUTCOME, replacesEarlier: true };
  return end.act === 'done' ? { id, claim: number, outcome: end.outcome, replacesEarlier: false } : null;
}

/**
 * Creates the methods of `InboxPort` that store how jobs ended, and that retry failed jobs. If the engine implements `finishJobs` and all
 * jobs that are to be stored are done, stores them with one call of `finishJobs`.
 */
export function createSettlements(
  { read, commit, now: readClock }: InboxDatabase,
  { finishJobs }: Pick<JobQueue, 'finishJobs'>,
): Pick<InboxPort, 'settle' | 'retryFailed' | 'prioritizeFailed'> {
  /** Builds the SQL statements that store how one claimed job ended, for example that it failed or waits for a retry. */
  function buildEndStatements({ claim: { id, claim }, end }: JobSettlement): BoundStatement<UpdatedJobRow>[] {
    const { code, message } = ('error' in end ? end.error : null) ?? { code: null, message: null };
    const delayMs = 'delayMs' in end ? end.delayMs : 0;
    const outcome = 'outcome' in end ? end.outcome : null;
    const values = { id, claim, code, message, delayMs, outcome, now: readClock() };
    return ENDS[end.act].map(statement => statement(values));
  }

  /**
   * Builds the SQL statements that retry failed jobs, one job after the other. Of two jobs with the same dedupe key, the second
   * is merged into the first.
   */
  function buildRetryStatements(ids: readonly number[]): BoundStatement<UpdatedJobRow>[] {
    const values = { claim: 0, code: null, message: null, delayMs: 0, outcome: null, now: readClock() };
    return ids.flatMap(id => RETRY_FAILED.map(statement => statement({ ...values, id })));
  }
  const buildRetryLock = (ids: readonly number[]) => buildJobLock(ids.map(id => ({ id, claim: 0 })));

  return {
    settle: async settlements => {
      const finished = settlements.map(toFinishedJob).filter(each => each !== null);
      if (finishJobs !== undefined && finished.length === settlements.length) {
        const claims = new Set(await finishJobs(finished));
        return settlements.map(({ claim: { claim } }) => claims.has(claim));
      }
      const lock = buildJobLock(settlements.map(({ claim }) => claim));
      const ended = (await commit(lock, ...settlements.flatMap(buildEndStatements))).flat();
      return settlements.map(({ claim: ref }) =>
        ended.some(({ id, claim }) => id === ref.id && claim === ref.claim),
      );
    },
    retryFailed: async jobIds => {
      const ids = jobIds === 'all' ? (await read(LIST_FAILED()))[0].map(({ id }) => id) : jobIds;
      const [, ...results] = await commit(
        buildRetryLock(ids),
        ...buildRetryStatements(ids),
        NOTIFY_WORKERS(),
      );
      const retried = results.flat();
      return ids.map(failed => {
        const job = retried.find(({ id }) => id === failed);
        return { failed, job: job === undefined ? null : (job.mergedInto ?? job.id) };
      });
    },
    prioritizeFailed: async errorCodes => {
      const codes = codeList.toTable(errorCodes.map(code => ({ code })));
      const [failed] = await read(LIST_FAILED_WITH_CODE({ codes }));
      const ids = failed.map(({ id }) => id);
      const results = await commit(
        buildRetryLock(ids),
        ...buildRetryStatements(ids),
        PRIORITIZE({ codes, now: readClock() }),
        NOTIFY_WORKERS(),
      );
      return results.at(-2)?.length ?? 0;
    },
  };
}
