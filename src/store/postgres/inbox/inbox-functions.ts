import { type RawBuilder, sql } from 'kysely';
import { MAX_BACKOFF_MS } from '../../../inbox/backoff.js';
import { DUPLICATE_WINDOW_MS, FOLD_WINDOW_MS } from '../../../inbox/delivery.js';
import { UNCHANGED_OUTCOME } from '../../../inbox/job.js';
import { PACES_MS, RECENT_READS } from '../../../inbox/pace.js';
import type { InboxDatabase } from '../../inbox/inbox-database.js';
import { select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import type { RunBatch } from '../../statement.js';
import { createBatch } from '../database.js';
import { getSqlState } from '../translate-errors.js';
import type { Postgres, RunQuery } from '../open-postgres.js';
import type { InboxClock } from '../pool-settings.js';

/** The named arguments or one input row of an SQL function, by the names that the function expects. */
type NamedArguments = Readonly<Record<string, unknown>>;

/** Calls an SQL function with arguments and input rows. */
export type FunctionCall<Result> = (
  values: NamedArguments,
  rows: readonly NamedArguments[],
) => Promise<Result>;

/** A stored delivery, as the SQL function `inbox.store` returns it. */
export interface StoredDeliveryRow {
  readonly rowId: number;
  readonly textId: number;
  readonly jobId: number | null;
  /** Whether the row existed before, so that the delivery was only counted in it. */
  readonly stood: boolean;
}

/** The rules that the SQL functions apply. They are passed to each call, so that both engines use the same constants. */
const RULES = JSON.stringify({
  paces: PACES_MS,
  reads_looked_at: RECENT_READS,
  unchanged: UNCHANGED_OUTCOME,
  max_backoff_ms: MAX_BACKOFF_MS,
  folded_within_ms: FOLD_WINDOW_MS,
  duplicate_within_ms: DUPLICATE_WINDOW_MS,
});

/** This timeout and the next one are shorter than the lease of a job, which is a minute. */
const LOCK_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 15_000;

/** SQLSTATEs of transactions that conflict with a concurrent one and succeed when they are retried. */
const CONFLICT_CODES: readonly string[] = ['23505', '40001', '40P01'];
const MAX_TRANSACTION_ATTEMPTS = 5;

type CallParams = Params<{ readonly values: string; readonly rows: string }>;

/**
 * Prepares a statement that sets `synchronous_commit` and the lock timeout of its transaction, and then calls an SQL function.
 * `buildCall` returns the SQL of the call.
 */
function prepareFunctionCall<Result>(
  buildCall: (values: RawBuilder<unknown>, rows: RawBuilder<unknown>) => RawBuilder<Result>,
) {
  // The statement sets both itself, because a pooler may forget settings of a session. WHERE refers to the CTE `settings`, because
  // PostgreSQL skips a CTE without references.
  return prepared(
    (_, { values, rows }: CallParams) => sqlStatement`WITH settings AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'on', true) AS flush, set_config('lock_timeout', '${sql.raw(String(LOCK_TIMEOUT_MS))}', true)
      ),
      input AS MATERIALIZED (
        SELECT ${sql.lit(RULES)}::jsonb || jsonb_build_object('at', date_trunc('milliseconds', now())) || ${values}::jsonb AS given
      )
      SELECT ${select({ result: buildCall(sql`given`, sql`${rows}::json`) })} FROM settings, input WHERE flush IS NOT NULL`,
  );
}
const STORE = prepareFunctionCall(
  (values, rows) => sql<readonly StoredDeliveryRow[]>`inbox.store(${values}, ${rows})`,
);
/** The statement that enqueues jobs. It returns the id of each job with the index of its request. */
const ENQUEUE = prepareFunctionCall(
  (values, rows) => sql<Readonly<Record<string, number>>>`inbox.enqueue(${values}, ${rows})`,
);

/** Settings of each transaction. They force plans with indexes, even if statistics are outdated, and avoid JIT compilation. */
const TRANSACTION_SETTINGS = `SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL jit = off;
  SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

/**
 * Runs `work`, and repeats it while it conflicts with a concurrent transaction, at most `MAX_TRANSACTION_ATTEMPTS` times in all.
 */
async function retryOnConflict<T>(work: () => Promise<T>, attempt = 1): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (attempt === MAX_TRANSACTION_ATTEMPTS || !CONFLICT_CODES.includes(getSqlState(error))) throw error;
    return await retryOnConflict(work, attempt + 1);
  }
}

/** Formats the time of the clock; null if the database is to use its own clock. */
const formatClock = (clock: InboxClock): string | null =>
  clock === null ? null : new Date(clock()).toISOString();

/**
 * Creates a function that calls an SQL function of the inbox in a transaction of its own. `statement` contains the call. If `clock`
 * is null, the clock of the database is used.
 */
function createFunctionCall<Result>(
  statement: ReturnType<typeof prepareFunctionCall<Result>>,
  query: RunQuery,
  clock: InboxClock,
): FunctionCall<Result> {
  const send = createRetryingBatch({ query });
  return async (values, rows) => {
    const at = formatClock(clock);
    const datedValues = JSON.stringify(at === null ? values : { ...values, at });
    const [[row]] = await send(statement({ values: datedValues, rows: JSON.stringify(rows) }));
    if (row === undefined) throw new Error('expected a row from the inbox, got none');
    return row.result;
  };
}

export const createStoreCall = (query: RunQuery, clock: InboxClock) =>
  createFunctionCall(STORE, query, clock);
export const createEnqueueCall = (query: RunQuery, clock: InboxClock) =>
  createFunctionCall(ENQUEUE, query, clock);

/**
 * Creates a `RunBatch` that runs each statement in its own transaction. It repeats a statement that conflicts with a concurrent
 * transaction.
 */
export function createRetryingBatch({ query }: Pick<Postgres, 'query'>): RunBatch {
  return createBatch(all =>
    Promise.all(
      all.map(({ text, values }) => retryOnConflict(() => query<object>(text, values, STATEMENT_TIMEOUT_MS))),
    ),
  );
}

/**
 * Creates the functions that read and write the inbox on PostgreSQL. Each call runs its statements in one transaction, and retries
 * the transaction after a conflict.
 */
export function createInboxDatabase({ sendTransaction }: Postgres, clock: InboxClock): InboxDatabase {
  const batch = createBatch(all =>
    retryOnConflict(() => sendTransaction(TRANSACTION_SETTINGS, all, STATEMENT_TIMEOUT_MS)),
  );
  return { read: batch, commit: batch, now: () => formatClock(clock) };
}
