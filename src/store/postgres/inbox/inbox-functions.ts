import { MAX_BACKOFF_MS } from '../../../inbox/backoff.js';
import { DUPLICATE_WINDOW_MS, FOLD_WINDOW_MS } from '../../../inbox/delivery.js';
import { UNCHANGED_OUTCOME } from '../../../inbox/job.js';
import { PACES_MS, RECENT_READS } from '../../../inbox/pace.js';
import type { InboxDatabase } from '../../inbox/database.js';
import type { Batch } from '../../statement.js';
import { createBatch } from '../database.js';
import { stateOf } from '../errors.js';
import type { Postgres, Query } from '../open.js';
import type { InboxClock } from '../settings.js';

type Values = Readonly<Record<string, unknown>>;

/** One of the functions of the migrations, with the rules that it judges by, and rows beside them. */
export type Call = <Answer>(
  name: 'store' | 'enqueue',
  given: Values,
  rows: readonly Values[],
) => Promise<Answer>;

/** By which the functions judge, as SQLite does. */
const RULES = JSON.stringify({
  paces: PACES_MS,
  reads_looked_at: RECENT_READS,
  unchanged: UNCHANGED_OUTCOME,
  max_backoff_ms: MAX_BACKOFF_MS,
  folded_within_ms: FOLD_WINDOW_MS,
  duplicate_within_ms: DUPLICATE_WINDOW_MS,
});

/** What waits longer for others, or for an answer, is not done now: a lease lasts a minute, a sender waits ten seconds. */
const LOCK_MS = 5000;
const ANSWER_MS = 15_000;

/** Two who want the same at once: the later one sees what the first has done. */
const BESIDE_ANOTHER: readonly string[] = ['23505', '40001', '40P01'];
const MOST_TRIES = 5;

/**
 * Settings of a session are forgotten by poolers: each statement brings its own. What is answered is flushed, whatever
 * the server is set to; a CTE that nothing refers to would not be executed.
 */
const statementOf = (done: string): string => `
  WITH flushed AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'on', true) AS yes, set_config('lock_timeout', '${LOCK_MS}', true)
  ),
  asked AS MATERIALIZED (
    SELECT '${RULES}'::jsonb || jsonb_build_object('at', date_trunc('milliseconds', now())) || $1::jsonb AS given
  )
  SELECT ${done} AS answer FROM flushed, asked WHERE yes IS NOT NULL`;

/** The same of a transaction, whose statements go by indexes, whatever the size of the tables was; jit would compile each. */
const SETTINGS = `SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = ${LOCK_MS}; SET LOCAL jit = off;
  SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

async function again<T>(work: () => Promise<T>, tries = 1): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (tries === MOST_TRIES || !BESIDE_ANOTHER.includes(stateOf(error))) throw error;
    return await again(work, tries + 1);
  }
}

const instantOf = (clock: InboxClock): string | null =>
  clock === null ? null : new Date(clock()).toISOString();

export function createCall(query: Query, clock: InboxClock): Call {
  return async (name, values, rows) => {
    const at = instantOf(clock);
    const given = JSON.stringify(at === null ? values : { ...values, at });
    const asked = [given, JSON.stringify(rows)];
    const sql = statementOf(`inbox.${name}(given, $2::json)`);
    const [row] = await again(() => query<{ answer: never }>(sql, asked, ANSWER_MS));
    if (row === undefined) throw new Error('expected an answer of the inbox, got none');
    return row.answer;
  };
}

/** Sends statements that are transactions of their own. */
export function createSingleSend({ query }: Pick<Postgres, 'query'>): Batch {
  return createBatch(all =>
    Promise.all(all.map(({ text, values }) => again(() => query<object>(text, values, ANSWER_MS)))),
  );
}

export function inboxDatabaseIn({ whole }: Postgres, clock: InboxClock): InboxDatabase {
  const batch = createBatch(all => again(() => whole(SETTINGS, all, ANSWER_MS)));
  return { look: batch, commit: batch, now: () => instantOf(clock) };
}
