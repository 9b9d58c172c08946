import {
  type Ended,
  type Held,
  type JobEnd,
  type JobError,
  MAX_ATTEMPTS,
  PAUSED_ATTEMPTS,
  SOON_MS,
} from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/columns.js';
import { type Sqlite, write } from '../open.js';
import { statement } from '../statement.js';
import { mergePayloads } from './enqueue.js';

type Failed = Extract<JobEnd, { readonly error: JobError }>;

interface Current {
  readonly state: string;
  readonly attempts: number;
  readonly upcoming: number | null;
}

export function createSettlements(
  db: Sqlite,
  clock: () => number,
): Pick<InboxPort, 'settle' | 'retryFailed' | 'tryFirst'> {
  const statements = prepare(db);

  function finish({ id, claim }: Held, outcome: string, now: number): boolean {
    return statements.finish.run({ id, claim, outcome, now: formatInstant(now) }) === 1;
  }

  function fail(id: number, end: Failed, { attempts, upcoming }: Current, now: number): void {
    const { code, message } = end.error;
    const isOver = end.act === 'fail' || (end.act === 'retry' && attempts >= MAX_ATTEMPTS);
    if (isOver) {
      const finishedAt = formatInstant(now);
      statements.settle.run({ id, state: 'failed', runAt: null, finishedAt, code, message });
      return;
    }
    const runAt = formatInstant(now + end.inMs);
    if (upcoming === null) {
      const state = end.act === 'pause' ? 'paused' : 'waiting';
      statements.settle.run({ id, state, runAt, finishedAt: null, code, message });
      return;
    }
    statements.fail.run({ id, code, message });
    if (end.act === 'pause') mergeInto(upcoming, id, now);
    else mergeInto(upcoming, id, now, runAt, attempts);
  }

  function giveBack(id: number, inMs: number, { upcoming }: Current, now: number): void {
    if (upcoming === null) statements.giveBack.run({ id, runAt: formatInstant(now + inMs) });
    else mergeInto(upcoming, id, now);
  }

  /** The upcoming one runs at once, unless it is told to inherit more patience. */
  function mergeInto(upcoming: number, id: number, now: number, runAt = '', attempts = 0): void {
    statements.merge.run({ id, upcoming, now: formatInstant(now) });
    statements.inherit.run({ id: upcoming, from: id, runAt, attempts });
  }

  function settle({ held, end }: Ended, now: number): boolean {
    if (end.act === 'done') return finish(held, end.outcome, now);
    const current = statements.held.get({ id: held.id, claim: held.claim });
    if (current === undefined) return false;
    if (end.act === 'give_back') giveBack(held.id, end.inMs, current, now);
    else fail(held.id, end, current, now);
    return true;
  }

  /** The id of the job that will run (one that waits may take over), or null when `id` has not failed. */
  function tryAgain(id: number, now: number): number | null {
    const current = statements.current.get({ id });
    if (current?.state !== 'failed') return null;
    if (current.upcoming === null) {
      statements.tryAgain.run({ id, now: formatInstant(now) });
      return id;
    }
    mergeInto(current.upcoming, id, now);
    return current.upcoming;
  }

  return {
    settle: async ended => {
      const now = clock();
      return write(db, () => ended.map(each => settle(each, now)));
    },
    retryFailed: async which => {
      const now = clock();
      return write(db, () => {
        const ids = which === 'all' ? statements.failed.all({}).map(({ id }) => id) : which;
        return ids.map(failed => ({ failed, job: tryAgain(failed, now) }));
      });
    },
    tryFirst: async reasons => {
      const now = clock();
      const codes = JSON.stringify(reasons);
      return write(db, () => {
        for (const { id } of statements.failedFor.all({ codes })) tryAgain(id, now);
        return statements.tryFirst.run({ codes, soon: formatInstant(now + SOON_MS) });
      });
    },
  };
}

type Settled = {
  id: number;
  state: 'waiting' | 'paused' | 'failed';
  runAt: string | null;
  finishedAt: string | null;
  code: string;
  message: string;
};

const CURRENT = `
  SELECT state, attempts, (SELECT other.id FROM jobs AS other
    WHERE other.dedupe_key = jobs.dedupe_key AND other.state IN ('waiting', 'paused')) AS upcoming
  FROM jobs WHERE id = @id`;

const FINISH = `
  UPDATE jobs SET state = 'done', claimed_until = NULL, finished_at = @now, outcome = @outcome
  WHERE id = @id AND claim = @claim AND state = 'running'`;

const SETTLE = `
  UPDATE jobs SET state = @state, claimed_until = NULL,
    attempts = iif(@state = 'paused', min(attempts, ${PAUSED_ATTEMPTS}), attempts),
    run_at = coalesce(@runAt, run_at), finished_at = @finishedAt, error_or_pause_code = @code, last_error = @message
  WHERE id = @id`;

const GIVE_BACK = `
  UPDATE jobs SET state = 'waiting', claimed_until = NULL, run_at = @runAt, attempts = max(attempts - 1, 0)
  WHERE id = @id`;

const INHERIT = `
  UPDATE jobs SET state = 'waiting', run_at = max(jobs.run_at, @runAt), attempts = max(jobs.attempts, @attempts),
    trigger = CASE
      WHEN 'person' IN (jobs.trigger, merged.trigger) THEN 'person'
      WHEN merged.trigger = 'delivery' THEN 'delivery'
      ELSE jobs.trigger END,
    only_duplicates_asked = min(jobs.only_duplicates_asked, merged.only_duplicates_asked),
    payload = ${mergePayloads('jobs.payload', 'merged.payload')},
    error_or_pause_code = merged.error_or_pause_code, last_error = merged.last_error
  FROM jobs AS merged WHERE jobs.id = @id AND merged.id = @from`;

const MERGE = `
  UPDATE jobs SET state = 'done', claimed_until = NULL, finished_at = @now, outcome = 'merged', merged_into = @upcoming
  WHERE id = @id`;

const TRY_AGAIN = `
  UPDATE jobs SET state = 'waiting', attempts = 0, run_at = @now, finished_at = NULL WHERE id = @id`;

const TRY_FIRST = `
  UPDATE jobs SET state = 'waiting', attempts = 1, run_at = created_at
  WHERE state IN ('waiting', 'paused') AND NOT (attempts > 0 AND run_at <= created_at)
    AND (error_or_pause_code IN (SELECT value FROM json_each(@codes)) OR (kind = 'retry' AND attempts = 0 AND run_at <= @soon))`;

function prepare(db: Sqlite) {
  const current = statement<{ id: number }, Current>(db, CURRENT);
  const held = statement<{ id: number; claim: number }, Current>(
    db,
    `${CURRENT} AND state = 'running' AND claim = @claim`,
  );
  const finish = statement<{ id: number; claim: number; outcome: string; now: string }>(db, FINISH);
  const settle = statement<Settled>(db, SETTLE);
  const fail = statement<{ id: number; code: string; message: string }>(
    db,
    'UPDATE jobs SET error_or_pause_code = @code, last_error = @message WHERE id = @id',
  );
  const giveBack = statement<{ id: number; runAt: string }>(db, GIVE_BACK);
  const inherit = statement<{ id: number; from: number; runAt: string; attempts: number }>(db, INHERIT);
  const merge = statement<{ id: number; upcoming: number; now: string }>(db, MERGE);
  const tryAgain = statement<{ id: number; now: string }>(db, TRY_AGAIN);
  const failed = statement<Record<string, never>, { id: number }>(
    db,
    "SELECT id FROM jobs WHERE state = 'failed' ORDER BY id DESC",
  );
  const failedFor = statement<{ codes: string }, { id: number }>(
    db,
    "SELECT id FROM jobs WHERE state = 'failed' AND error_or_pause_code IN (SELECT value FROM json_each(@codes)) ORDER BY id",
  );
  const tryFirst = statement<{ codes: string; soon: string }>(db, TRY_FIRST);
  return {
    failedFor,
    tryFirst,
    current,
    held,
    finish,
    settle,
    fail,
    giveBack,
    inherit,
    merge,
    tryAgain,
    failed,
  };
}
