import { MAX_BACKOFF_MS } from '../../../inbox/backoff.js';
import { FOLDED_WITHIN_MS, DUPLICATE_WITHIN_MS } from '../../../inbox/delivery.js';
import { MAX_ATTEMPTS, PAUSED_ATTEMPTS, UNCHANGED } from '../../../inbox/job.js';
import { PACES_MS, READS_LOOKED_AT } from '../../../inbox/pace.js';
import type { InboxClock } from '../settings.js';
import { stateOf } from '../errors.js';
import type { Given, Query } from '../open.js';

type Values = Readonly<Record<string, unknown>>;

export interface Perform {
  /** One of the functions of the migrations, with the rules that it judges by. */
  readonly call: <Answer>(name: FunctionName, given: Values) => Promise<Answer>;
  /** The same of one that takes rows. */
  readonly callOn: <Answer>(name: 'store_new', given: Values, rows: readonly Values[]) => Promise<Answer>;
  /** Steps of one transaction: see `perform_steps` in the migrations. All of them have one instant, `AT`. */
  readonly perform: <Answer>(statements: readonly string[], given?: Values) => Promise<Answer>;
}

type FunctionName = 'store' | 'enqueue' | 'claim' | 'renew' | 'settle';

/** By which the functions judge, as SQLite does. */
const RULES = JSON.stringify({
  paces: PACES_MS,
  reads_looked_at: READS_LOOKED_AT,
  unchanged: UNCHANGED,
  max_backoff_ms: MAX_BACKOFF_MS,
  max_attempts: MAX_ATTEMPTS,
  paused_attempts: PAUSED_ATTEMPTS,
  folded_within_ms: FOLDED_WITHIN_MS,
  duplicate_within_ms: DUPLICATE_WITHIN_MS,
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

const STEPS = statementOf('inbox.perform_steps($2::text[], given)');

export function createPerform(query: Query, clock: InboxClock): Perform {
  async function ask<Answer>(
    sql: string,
    values: Values,
    steps: readonly Given[],
    tries = 1,
  ): Promise<Answer> {
    const at = clock === null ? {} : { at: new Date(clock()).toISOString() };
    try {
      const given = JSON.stringify({ ...values, ...at });
      const [row] = await query<{ answer: Answer }>(sql, [given, ...steps], ANSWER_MS);
      if (row === undefined) throw new Error('expected an answer of the inbox, got none');
      return row.answer;
    } catch (error) {
      if (tries === MOST_TRIES || !BESIDE_ANOTHER.includes(stateOf(error))) throw error;
      return ask(sql, values, steps, tries + 1);
    }
  }

  return {
    call: (name, values) => ask(statementOf(`inbox.${name}(given)`), values, []),
    callOn: (name, values, rows) =>
      ask(statementOf(`inbox.${name}(given, $2::json)`), values, [JSON.stringify(rows)]),
    perform: (steps, values = {}) => ask(STEPS, values, [steps]),
  };
}

export const AT = "($1 ->> 'at')::timestamptz";

/** Milliseconds as an interval. */
export function ms(expression: string): string {
  return `(${expression}) * interval '1 millisecond'`;
}

/** How a step answers an instant. */
export function epochMs(expression: string): string {
  return `round(extract(epoch FROM ${expression}) * 1000)`;
}
