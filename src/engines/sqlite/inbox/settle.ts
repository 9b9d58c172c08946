import { sql } from 'kysely';
import { type Sqlite, write } from '../open.js';
import { parameter, statement } from '../statement.js';
import { type Held, type JobError, MAX_ATTEMPTS, PARKED_ATTEMPTS } from '../../../inbox/job.js';
import { mergePayloads, queries, raw, toInstant } from './queries.js';

/** How a claimed job ends. Each answers false, and changes nothing, when the claim is no longer ours. */
export interface Settlements {
  /** `outcome` is one word for people to read, such as `read`. */
  finishJob(held: Held, outcome: string, now: number): boolean;
  /** Try again at `at`. The tenth failure buries the job instead. */
  retryJob(held: Held, at: number, error: JobError, now: number): boolean;
  /** Wait until a delivery, the schedule or a person asks for the same again, or until `at`. It is never buried for that. */
  parkJob(held: Held, at: number, reason: JobError, now: number): boolean;
  buryJob(held: Held, reason: JobError, now: number): boolean;
  /** Undo the claim: nothing failed, and the attempt does not count. */
  giveBackJob(held: Held, at: number, now: number): boolean;
  /** Answers the id of the job that will run (a waiting one may take over), or null when `id` is not buried. */
  retryBuried(id: number, now: number): number | null;
}

const AT_ONCE = { runAt: null, attempts: 0 };

interface Settled {
  readonly state: 'ready' | 'parked' | 'buried';
  readonly runAt: string | null;
  readonly finishedAt: string | null;
  readonly error: JobError;
}

interface Current {
  readonly state: string;
  readonly attempts: number;
  readonly waiting: number | null;
}

export function createSettlements(db: Sqlite): Settlements {
  const statements = prepare(db);

  function settle(held: Held, now: number, choose: (current: Current) => Settled): boolean {
    return write(db, () => {
      const current = statements.held.get({ id: held.id, claim: held.claim });
      if (current === undefined) return false;
      const { state, runAt, finishedAt, error } = choose(current);
      if (state !== 'buried' && current.waiting !== null) {
        statements.fail.run({ id: held.id, code: error.code, message: error.message });
        const carried = state === 'ready' ? { runAt, attempts: current.attempts } : AT_ONCE;
        mergeInto(current.waiting, held.id, carried.runAt ?? '', carried.attempts, now);
        return true;
      }
      statements.settle.run({
        id: held.id,
        state,
        runAt,
        finishedAt,
        code: error.code,
        message: error.message,
      });
      return true;
    });
  }

  function mergeInto(waiting: number, id: number, runAt: string, attempts: number, now: number): void {
    statements.merge.run({ id, waiting, now: toInstant(now) });
    statements.inherit.run({ id: waiting, from: id, runAt, attempts });
  }

  return {
    finishJob: (held, outcome, now) =>
      write(
        db,
        () => statements.finish.run({ id: held.id, claim: held.claim, outcome, now: toInstant(now) }) === 1,
      ),
    retryJob: (held, at, error, now) =>
      settle(held, now, current =>
        current.attempts >= MAX_ATTEMPTS
          ? bury(error, now)
          : { state: 'ready', runAt: toInstant(at), finishedAt: null, error },
      ),
    parkJob: (held, at, reason, now) =>
      settle(held, now, () => ({ state: 'parked', runAt: toInstant(at), finishedAt: null, error: reason })),
    buryJob: (held, reason, now) => settle(held, now, () => bury(reason, now)),
    giveBackJob: (held, at, now) =>
      write(db, () => {
        const current = statements.held.get({ id: held.id, claim: held.claim });
        if (current === undefined) return false;
        if (current.waiting !== null) mergeInto(current.waiting, held.id, '', 0, now);
        else statements.giveBack.run({ id: held.id, runAt: toInstant(at) });
        return true;
      }),
    retryBuried: (id, now) =>
      write(db, () => {
        const current = statements.current.get({ id });
        if (current?.state !== 'buried') return null;
        if (current.waiting !== null) {
          mergeInto(current.waiting, id, '', 0, now);
          return current.waiting;
        }
        statements.revive.run({ id, now: toInstant(now) });
        return id;
      }),
  };
}

function bury(error: JobError, now: number): Settled {
  return { state: 'buried', runAt: null, finishedAt: toInstant(now), error };
}

function prepare(db: Sqlite) {
  const id = parameter<number>('id');
  const current = queries
    .selectFrom('jobs')
    .where('id', '=', id)
    .select([
      'state',
      'attempts',
      sql<number | null>`(SELECT other.id FROM jobs AS other
        WHERE other.dedupe_key = jobs.dedupe_key AND other.state IN ('ready', 'parked'))`.as('waiting'),
    ]);
  return {
    current: statement<{ id: number }, Current>(db, current),
    held: statement<{ id: number; claim: number }, Current>(
      db,
      current.where('state', '=', 'claimed').where('claim', '=', parameter<number>('claim')),
    ),
    finish: statement<{ id: number; claim: number; outcome: string; now: string }>(
      db,
      queries
        .updateTable('jobs')
        .set({
          state: 'done',
          claimed_until: null,
          finished_at: parameter<string>('now'),
          outcome: parameter<string>('outcome'),
        })
        .where('id', '=', id)
        .where('claim', '=', parameter<number>('claim'))
        .where('state', '=', 'claimed'),
    ),
    settle: statement<{
      id: number;
      state: string;
      runAt: string | null;
      finishedAt: string | null;
      code: string;
      message: string;
    }>(
      db,
      raw(sql<never>`
        UPDATE jobs SET state = ${parameter('state')}, claimed_until = NULL,
          attempts = iif(${parameter('state')} = 'parked', min(attempts, ${sql.lit(PARKED_ATTEMPTS)}), attempts),
          run_at = coalesce(${parameter('runAt')}, run_at), finished_at = ${parameter('finishedAt')},
          last_error_code = ${parameter('code')}, last_error = ${parameter('message')}
        WHERE id = ${id}`),
    ),
    fail: statement<{ id: number; code: string; message: string }>(
      db,
      queries
        .updateTable('jobs')
        .set({ last_error_code: parameter<string>('code'), last_error: parameter<string>('message') })
        .where('id', '=', id),
    ),
    giveBack: statement<{ id: number; runAt: string }>(
      db,
      raw(sql<never>`
        UPDATE jobs SET state = 'ready', claimed_until = NULL, run_at = ${parameter('runAt')},
          attempts = max(attempts - 1, 0)
        WHERE id = ${id}`),
    ),
    inherit: statement<{ id: number; from: number; runAt: string; attempts: number }>(
      db,
      raw(sql<never>`
        UPDATE jobs SET state = 'ready', run_at = max(jobs.run_at, ${parameter('runAt')}),
          attempts = max(jobs.attempts, ${parameter('attempts')}),
          trigger = CASE
            WHEN 'person' IN (jobs.trigger, merged.trigger) THEN 'person'
            WHEN merged.trigger = 'delivery' THEN 'delivery'
            ELSE jobs.trigger END,
          repeats_only = min(jobs.repeats_only, merged.repeats_only),
          payload = ${mergePayloads(sql.ref('jobs.payload'), sql.ref('merged.payload'))},
          last_error_code = merged.last_error_code, last_error = merged.last_error
        FROM jobs AS merged WHERE jobs.id = ${id} AND merged.id = ${parameter('from')}`),
    ),
    merge: statement<{ id: number; waiting: number; now: string }>(
      db,
      raw(sql<never>`
        UPDATE jobs SET state = 'done', claimed_until = NULL, finished_at = ${parameter('now')},
          outcome = 'merged', merged_into = ${parameter('waiting')}
        WHERE id = ${id}`),
    ),
    revive: statement<{ id: number; now: string }>(
      db,
      raw(sql<never>`
        UPDATE jobs SET state = 'ready', attempts = 0, run_at = ${parameter('now')}, finished_at = NULL
        WHERE id = ${id}`),
    ),
  };
}
