import { type RawBuilder, sql } from 'kysely';
import { MAX_BACKOFF_MS } from '../../../inbox/backoff.js';
import { DUPLICATE_WINDOW_MS, FOLD_WINDOW_MS } from '../../../inbox/delivery.js';
import { UNCHANGED_OUTCOME } from '../../../inbox/job.js';
import { PACES_MS, RECENT_READS } from '../../../inbox/pace.js';
import type { InboxDatabase } from '../../inbox/inbox-database.js';
import { select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import type { Batch } from '../../statement.js';
import { createBatch } from '../database.js';
import { getSqlState } from '../translate-errors.js';
import type { Postgres, RunQuery } from '../open-postgres.js';
import type { InboxClock } from '../pool-settings.js';

/** Named arguments of a function of the migrations. */
type Arguments = Readonly<Record<string, unknown>>;

/** Calls a function of the migrations with its arguments, and with rows. */
export type FunctionCall<Result> = (values: Arguments, rows: readonly Arguments[]) => Promise<Result>;

/** The row of a stored delivery, as the function returns it. */
export interface StoredRow {
  readonly rowId: number;
  readonly textId: number;
  readonly jobId: number | null;
  /** Whether the delivery was counted in a row that existed before. */
  readonly stood: boolean;
}

/** The rules by which the functions decide. SQLite uses the same. */
const RULES = JSON.stringify({
  paces: PACES_MS,
  reads_looked_at: RECENT_READS,
  unchanged: UNCHANGED_OUTCOME,
  max_backoff_ms: MAX_BACKOFF_MS,
  folded_within_ms: FOLD_WINDOW_MS,
  duplicate_within_ms: DUPLICATE_WINDOW_MS,
});

/** Timeouts: a lease lasts a minute, and a sender of webhooks waits ten seconds. */
const LOCK_TIMEOUT_MS = 5000;
const ANSWER_TIMEOUT_MS = 15_000;

/** SQLSTATEs of transactions that fail because another one does the same at once. They succeed when they are repeated. */
const CONFLICTS: readonly string[] = ['23505', '40001', '40P01'];
const MAX_TRIES = 5;

type CallParams = Params<{ readonly values: string; readonly rows: string }>;

/**
 * Prepares a call that is a transaction of its own. Poolers forget the settings of a session, so the statement sets them: the
 * commit is flushed, whatever the server is set to. PostgreSQL does not run a CTE that nothing refers to.
 */
function prepareCall<Result>(
  call: (given: RawBuilder<unknown>, rows: RawBuilder<unknown>) => RawBuilder<Result>,
) {
  return prepared(
    (_, { values, rows }: CallParams) => sqlStatement`WITH settings AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'on', true) AS flush, set_config('lock_timeout', '${sql.raw(String(LOCK_TIMEOUT_MS))}', true)
      ),
      input AS MATERIALIZED (
        SELECT ${sql.lit(RULES)}::jsonb || jsonb_build_object('at', date_trunc('milliseconds', now())) || ${values}::jsonb AS given
      )
      SELECT ${select({ result: call(sql`given`, sql`${rows}::json`) })} FROM settings, input WHERE flush IS NOT NULL`,
  );
}
const STORE = prepareCall((given, rows) => sql<readonly StoredRow[]>`inbox.store(${given}, ${rows})`);
/** Returns the ids of jobs by the index of their request. */
const ENQUEUE = prepareCall(
  (given, rows) => sql<Readonly<Record<string, number>>>`inbox.enqueue(${given}, ${rows})`,
);

/** Settings of a transaction. Its statements use indexes, whatever size the tables had; JIT would compile each of them. */
const SETTINGS = `SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL jit = off;
  SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

async function repeatOnConflict<T>(work: () => Promise<T>, tries = 1): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (tries === MAX_TRIES || !CONFLICTS.includes(getSqlState(error))) throw error;
    return await repeatOnConflict(work, tries + 1);
  }
}

const formatClock = (clock: InboxClock): string | null =>
  clock === null ? null : new Date(clock()).toISOString();

function createCall<Result>(
  statement: ReturnType<typeof prepareCall<Result>>,
  query: RunQuery,
  clock: InboxClock,
): FunctionCall<Result> {
  const send = createSingleSend({ query });
  return async (values, rows) => {
    const at = formatClock(clock);
    const given = JSON.stringify(at === null ? values : { ...values, at });
    const [[row]] = await send(statement({ values: given, rows: JSON.stringify(rows) }));
    if (row === undefined) throw new Error('expected a row from the inbox, got none');
    return row.result;
  };
}

export const createStoreCall = (query: RunQuery, clock: InboxClock) => createCall(STORE, query, clock);
export const createEnqueueCall = (query: RunQuery, clock: InboxClock) => createCall(ENQUEUE, query, clock);

/** Sends statements that are transactions of their own. */
export function createSingleSend({ query }: Pick<Postgres, 'query'>): Batch {
  return createBatch(all =>
    Promise.all(
      all.map(({ text, values }) => repeatOnConflict(() => query<object>(text, values, ANSWER_TIMEOUT_MS))),
    ),
  );
}

/** Runs the statements of the inbox on PostgreSQL, each batch in one transaction. */
export function createInboxDatabase({ sendTransaction }: Postgres, clock: InboxClock): InboxDatabase {
  const batch = createBatch(all => repeatOnConflict(() => sendTransaction(SETTINGS, all, ANSWER_TIMEOUT_MS)));
  return { read: batch, commit: batch, now: () => formatClock(clock) };
}
