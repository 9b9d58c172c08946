import {
  type Ended,
  type Held,
  type JobEnd,
  type JobError,
  MAX_ATTEMPTS,
  PARKED_ATTEMPTS,
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
  readonly waiting: number | null;
}

export function createSettlements(
  db: Sqlite,
  clock: () => number,
): Pick<InboxPort, 'settle' | 'retryBuried' | 'tryFirst'> {
  const statements = prepare(db);

  function finish({ id, claim }: Held, outcome: string, now: number): boolean {
    return statements.finish.run({ id, claim, outcome, now: formatInstant(now) }) === 1;
  }

  function fail(id: number, end: Failed, { attempts, waiting }: Current, now: number): void {
    const { code, message } = end.error;
    const isOver = end.act === 'bury' || (end.act === 'retry' && attempts >= MAX_ATTEMPTS);
    if (isOver) {
      const finishedAt = formatInstant(now);
      statements.settle.run({ id, state: 'buried', runAt: null, finishedAt, code, message });
      return;
    }
    const runAt = formatInstant(now + end.inMs);
    if (waiting === null) {
      const state = end.act === 'park' ? 'parked' : 'ready';
      statements.settle.run({ id, state, runAt, finishedAt: null, code, message });
      return;
    }
    statements.fail.run({ id, code, message });
    if (end.act === 'park') mergeInto(waiting, id, now);
    else mergeInto(waiting, id, now, runAt, attempts);
  }

  function giveBack(id: number, inMs: number, { waiting }: Current, now: number): void {
    if (waiting === null) statements.giveBack.run({ id, runAt: formatInstant(now + inMs) });
    else mergeInto(waiting, id, now);
  }

  /** The waiting one runs at once, unless it is told to inherit more patience. */
  function mergeInto(waiting: number, id: number, now: number, runAt = '', attempts = 0): void {
    statements.merge.run({ id, waiting, now: formatInstant(now) });
    statements.inherit.run({ id: waiting, from: id, runAt, attempts });
  }

  function settle({ held, end }: Ended, now: number): boolean {
    if (end.act === 'done') return finish(held, end.outcome, now);
    const current = statements.held.get({ id: held.id, claim: held.claim });
    if (current === undefined) return false;
    if (end.act === 'give_back') giveBack(held.id, end.inMs, current, now);
    else fail(held.id, end, current, now);
    return true;
  }

  /** The id of the job that will run (a waiting one may take over), or null when `id` is not buried. */
  function revive(id: number, now: number): number | null {
    const current = statements.current.get({ id });
    if (current?.state !== 'buried') return null;
    if (current.waiting === null) {
      statements.revive.run({ id, now: formatInstant(now) });
      return id;
    }
    mergeInto(current.waiting, id, now);
    return current.waiting;
  }

  return {
    settle: async ended => {
      const now = clock();
      return write(db, () => ended.map(each => settle(each, now)));
    },
    retryBuried: async which => {
      const now = clock();
      return write(db, () => {
        const ids = which === 'all' ? statements.buried.all({}).map(({ id }) => id) : which;
        return ids.map(buried => ({ buried, job: revive(buried, now) }));
      });
    },
    tryFirst: async reasons => {
      const now = clock();
      const codes = JSON.stringify(reasons);
      return write(db, () => {
        for (const { id } of statements.buriedFor.all({ codes })) revive(id, now);
        return statements.tryFirst.run({ codes, soon: formatInstant(now + SOON_MS) });
      });
    },
  };
}

type Settled = {
  id: number;
  state: 'ready' | 'parked' | 'buried';
  runAt: string | null;
  finishedAt: string | null;
  code: string;
  message: string;
};

const CURRENT = `
  SELECT state, attempts, (SELECT other.id FROM jobs AS other
    WHERE other.dedupe_key = jobs.dedupe_key AND other.state IN ('ready', 'parked')) AS waiting
  FROM jobs WHERE id = @id`;

const FINISH = `
  UPDATE jobs SET state = 'done', claimed_until = NULL, finished_at = @now, outcome = @outcome
  WHERE id = @id AND claim = @claim AND state = 'claimed'`;

const SETTLE = `
  UPDATE jobs SET state = @state, claimed_until = NULL,
    attempts = iif(@state = 'parked', min(attempts, ${PARKED_ATTEMPTS}), attempts),
    run_at = coalesce(@runAt, run_at), finished_at = @finishedAt, last_error_code = @code, last_error = @message
  WHERE id = @id`;

const GIVE_BACK = `
  UPDATE jobs SET state = 'ready', claimed_until = NULL, run_at = @runAt, attempts = max(attempts - 1, 0)
  WHERE id = @id`;

const INHERIT = `
  UPDATE jobs SET state = 'ready', run_at = max(jobs.run_at, @runAt), attempts = max(jobs.attempts, @attempts),
    trigger = CASE
      WHEN 'person' IN (jobs.trigger, merged.trigger) THEN 'person'
      WHEN merged.trigger = 'delivery' THEN 'delivery'
      ELSE jobs.trigger END,
    repeats_only = min(jobs.repeats_only, merged.repeats_only),
    payload = ${mergePayloads('jobs.payload', 'merged.payload')},
    last_error_code = merged.last_error_code, last_error = merged.last_error
  FROM jobs AS merged WHERE jobs.id = @id AND merged.id = @from`;

const MERGE = `
  UPDATE jobs SET state = 'done', claimed_until = NULL, finished_at = @now, outcome = 'merged', merged_into = @waiting
  WHERE id = @id`;

const REVIVE = `
  UPDATE jobs SET state = 'ready', attempts = 0, run_at = @now, finished_at = NULL WHERE id = @id`;

const TRY_FIRST = `
  UPDATE jobs SET state = 'ready', attempts = 1, run_at = created_at
  WHERE state IN ('ready', 'parked') AND NOT (attempts > 0 AND run_at <= created_at)
    AND (last_error_code IN (SELECT value FROM json_each(@codes)) OR (kind = 'retry' AND attempts = 0 AND run_at <= @soon))`;

function prepare(db: Sqlite) {
  const current = statement<{ id: number }, Current>(db, CURRENT);
  const held = statement<{ id: number; claim: number }, Current>(
    db,
    `${CURRENT} AND state = 'claimed' AND claim = @claim`,
  );
  const finish = statement<{ id: number; claim: number; outcome: string; now: string }>(db, FINISH);
  const settle = statement<Settled>(db, SETTLE);
  const fail = statement<{ id: number; code: string; message: string }>(
    db,
    'UPDATE jobs SET last_error_code = @code, last_error = @message WHERE id = @id',
  );
  const giveBack = statement<{ id: number; runAt: string }>(db, GIVE_BACK);
  const inherit = statement<{ id: number; from: number; runAt: string; attempts: number }>(db, INHERIT);
  const merge = statement<{ id: number; waiting: number; now: string }>(db, MERGE);
  const revive = statement<{ id: number; now: string }>(db, REVIVE);
  const buried = statement<Record<string, never>, { id: number }>(
    db,
    "SELECT id FROM jobs WHERE state = 'buried' ORDER BY id DESC",
  );
  const buriedFor = statement<{ codes: string }, { id: number }>(
    db,
    "SELECT id FROM jobs WHERE state = 'buried' AND last_error_code IN (SELECT value FROM json_each(@codes)) ORDER BY id",
  );
  const tryFirst = statement<{ codes: string; soon: string }>(db, TRY_FIRST);
  return {
    buriedFor,
    tryFirst,
    current,
    held,
    finish,
    settle,
    fail,
    giveBack,
    inherit,
    merge,
    revive,
    buried,
  };
}
