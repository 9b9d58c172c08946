import {
  type JobSettlement,
  type ClaimRef,
  type JobEnd,
  MAX_ATTEMPTS,
  PAUSED_ATTEMPTS,
  RETRY_SOON_MS,
  UNCHANGED_OUTCOME,
} from '../../inbox/job.js';
import { PACES_MS } from '../../inbox/pace.js';
import type { InboxPort } from '../../inbox/port.js';
import type { Dialect, Table } from '../dialect.js';
import { type BoundStatement, fixed, statement } from '../statement.js';
import { holdAll, IS_HELD } from './claims.js';
import { type Dated, type InboxDatabase, NOW } from './database.js';

type Given = Dated & {
  readonly id: number;
  readonly claim: number;
  readonly code: string | null;
  readonly message: string | null;
  readonly inMs: number;
  readonly outcome: string | null;
};
/** What was done with a job. */
type Settled = ClaimRef & { readonly mergedInto: number | null };
type Clause = (dialect: Dialect) => string;

const IS_FAILED = "id = @id AND state = 'failed'";
const UPCOMING = "state IN ('waiting', 'paused')";
const ERROR =
  'error_or_pause_code = coalesce(@code, error_or_pause_code), last_error = coalesce(@message, last_error)';
const later = (dialect: Dialect) => dialect.later(NOW(dialect), '@inMs');

function ending(clause: Clause, which: string) {
  return statement<Given, Settled>(
    dialect =>
      `UPDATE inbox.jobs SET claimed_until = NULL, ${clause(dialect)} WHERE ${which}
       RETURNING id, claim, merged_into AS "mergedInto"`,
  );
}

/** Names and locks the waiting job with the same key. */
const pointing = (which: string) =>
  statement<Given>(
    ({ forUpdate }) =>
      `UPDATE inbox.jobs SET merged_into = (
         SELECT id FROM inbox.jobs AS upcoming WHERE upcoming.dedupe_key = jobs.dedupe_key AND ${UPCOMING} ${forUpdate})
       WHERE ${which}`,
  );

/** Returns the earliest start that the pace of the key allows. */
const nextPace: Clause = dialect => {
  const lastStart = '(SELECT max(started_at) FROM inbox.jobs AS s WHERE s.dedupe_key = upcoming.dedupe_key)';
  return dialect.later(dialect.least(lastStart, NOW(dialect)), String(PACES_MS[0]));
};

/** Returns the earlier run time of the two jobs, but none before any of `floors`. */
function earlierRunTime(dialect: Dialect, ...floors: readonly Clause[]): string {
  const earlier = dialect.least('upcoming.run_at', later(dialect));
  return dialect.greatest(earlier, ...floors.map(floor => floor(dialect)));
}

/** A person does not wait for a backoff: the run time that was given for a person stays. */
const unlessAPersonAsked = (runTime: string) =>
  `CASE upcoming.trigger WHEN 'person' THEN upcoming.run_at ELSE ${runTime} END`;

/** The upcoming job takes over what the merged one was asked for. The job with the higher id names the newer installation. */
const inheriting = (which: string, runAt: Clause) =>
  statement<Given>(
    dialect => `UPDATE inbox.jobs AS upcoming SET state = 'waiting',
      trigger = CASE WHEN 'person' IN (upcoming.trigger, mine.trigger) THEN 'person'
        WHEN mine.trigger = 'delivery' THEN 'delivery' ELSE upcoming.trigger END,
      priority = ${dialect.least('upcoming.priority', 'mine.priority')},
      only_duplicates_asked = ${dialect.least('upcoming.only_duplicates_asked', 'mine.only_duplicates_asked')},
      payload = ${dialect.mergedPayload('upcoming.payload', 'mine.payload')},
      installation_id = CASE WHEN mine.id > upcoming.id THEN coalesce(mine.installation_id, upcoming.installation_id)
        ELSE coalesce(upcoming.installation_id, mine.installation_id) END,
      error_or_pause_code = coalesce(@code, mine.error_or_pause_code),
      last_error = coalesce(@message, mine.last_error),
      run_at = ${runAt(dialect)}
      FROM (SELECT * FROM inbox.jobs WHERE ${which}) AS mine WHERE upcoming.id = mine.merged_into`,
  );

/** Merges a job into the waiting job with the same key, where there is one. */
function merging(which: string, runAt: Clause) {
  return [
    pointing(which),
    inheriting(which, runAt),
    ending(
      dialect => `state = 'done', finished_at = ${NOW(dialect)}, outcome = 'merged', ${ERROR}`,
      `${which} AND merged_into IS NOT NULL`,
    ),
  ];
}

const fails: Clause = dialect => `state = 'failed', finished_at = ${NOW(dialect)}, ${ERROR}`;
const asPaced: Clause = dialect => unlessAPersonAsked(earlierRunTime(dialect, nextPace));
const afterBackoff: Clause = dialect => `${unlessAPersonAsked(earlierRunTime(dialect, nextPace, later))},
  attempts = ${dialect.greatest('upcoming.attempts', 'mine.attempts')}`;

/** What is done one after the other, until one of them has ended the job. */
const ENDS: Readonly<Record<JobEnd['act'], readonly ReturnType<typeof ending | typeof pointing>[]>> = {
  done: [ending(dialect => `state = 'done', finished_at = ${NOW(dialect)}, outcome = @outcome`, IS_HELD)],
  unchanged: [
    ending(
      dialect => `state = 'done', finished_at = ${NOW(dialect)}, outcome = '${UNCHANGED_OUTCOME}'`,
      IS_HELD,
    ),
    // Only the latest stays: it says when the installation was read last. A job that another one was merged into stays, too.
    statement<Given>(
      `DELETE FROM inbox.jobs WHERE dedupe_key = (SELECT dedupe_key FROM inbox.jobs AS latest WHERE latest.id = @id AND latest.claim = @claim)
         AND id < @id AND state = 'done' AND trigger = 'schedule' AND outcome = '${UNCHANGED_OUTCOME}'
         AND NOT EXISTS (SELECT 1 FROM inbox.jobs AS merged
           WHERE merged.dedupe_key = jobs.dedupe_key AND merged.merged_into = jobs.id)`,
    ),
  ],
  fail: [ending(fails, IS_HELD)],
  retry: [
    ending(fails, `${IS_HELD} AND attempts >= ${MAX_ATTEMPTS}`),
    ...merging(IS_HELD, afterBackoff),
    ending(dialect => `state = 'waiting', run_at = ${later(dialect)}, ${ERROR}`, IS_HELD),
  ],
  pause: [
    ...merging(IS_HELD, asPaced),
    ending(
      dialect =>
        `state = 'paused', run_at = ${later(dialect)}, attempts = ${dialect.least('attempts', String(PAUSED_ATTEMPTS))}, ${ERROR}`,
      IS_HELD,
    ),
  ],
  release: [
    ...merging(IS_HELD, asPaced),
    ending(
      dialect =>
        `state = 'waiting', run_at = ${later(dialect)}, attempts = ${dialect.greatest('attempts - 1', '0')}`,
      IS_HELD,
    ),
  ],
};
const RETRIES = [
  ...merging(IS_FAILED, dialect => earlierRunTime(dialect, nextPace)),
  ending(
    dialect => `state = 'waiting', attempts = 0, run_at = ${NOW(dialect)}, finished_at = NULL`,
    IS_FAILED,
  ),
];

const FAILED = fixed<{ readonly id: number }>(
  "SELECT id FROM inbox.jobs WHERE state = 'failed' ORDER BY id DESC",
);
const CODES = { code: 'text' } as const;
const among = ({ rows }: Dialect) => `(SELECT c.code FROM ${rows('@codes', 'c', CODES)})`;
const FAILED_FOR = statement<{ codes: Table }, { readonly id: number }>(
  dialect =>
    `SELECT id FROM inbox.jobs WHERE state = 'failed' AND error_or_pause_code IN ${among(dialect)} ORDER BY id`,
);
const TRY_FIRST = statement<Dated & { codes: Table }, { readonly id: number }>(
  dialect =>
    `UPDATE inbox.jobs SET state = 'waiting', attempts = 1, run_at = created_at WHERE id IN (
       SELECT id FROM inbox.jobs AS j WHERE ${UPCOMING} AND NOT (attempts > 0 AND run_at <= created_at)
         AND (error_or_pause_code IN ${among(dialect)}
           OR (kind = 'retry' AND attempts = 0 AND run_at <= ${dialect.later(NOW(dialect), String(RETRY_SOON_MS))}))
       ORDER BY dedupe_key, id ${dialect.forUpdateOfFree('j')})
     RETURNING id`,
);
const TELL = fixed(({ tellOfWork }) => tellOfWork);

export function createSettlements({
  look,
  commit,
  now,
}: InboxDatabase): Pick<InboxPort, 'settle' | 'retryFailed' | 'prioritizeFailed'> {
  function stepsOf({ claim: { id, claim }, end }: JobSettlement): BoundStatement<Settled>[] {
    const { code, message } = 'error' in end ? end.error : { code: null, message: null };
    const inMs = 'delayMs' in end ? end.delayMs : 0;
    const outcome = 'outcome' in end ? end.outcome : null;
    return ENDS[end.act].map(step => step({ id, claim, code, message, inMs, outcome, now: now() }));
  }

  /** One after the other: two of them may have one key, and then the second is merged with the first. */
  function retriesOf(ids: readonly number[]): readonly (BoundStatement<Settled> | null)[] {
    const given = { claim: 0, code: null, message: null, inMs: 0, outcome: null, now: now() };
    const hold = holdAll(ids.map(id => ({ id, claim: 0 })));
    return [hold, ...ids.flatMap(id => RETRIES.map(step => step({ ...given, id })))];
  }

  return {
    settle: async ended => {
      const steps = ended.flatMap(stepsOf);
      const settled = (await commit(holdAll(ended.map(({ claim: held }) => held)), ...steps)).flat();
      return ended.map(({ claim: held }) =>
        settled.some(({ id, claim }) => id === held.id && claim === held.claim),
      );
    },
    retryFailed: async which => {
      const ids = which === 'all' ? (await look(FAILED))[0].map(({ id }) => id) : which;
      const retried = (await commit(...retriesOf(ids), TELL)).flat();
      return ids.map(failed => {
        const job = retried.find(({ id }) => id === failed);
        return { failed, job: job === undefined ? null : (job.mergedInto ?? job.id) };
      });
    },
    prioritizeFailed: async reasons => {
      const codes = { columns: CODES, rows: reasons.map(code => [code]) };
      const [failed] = await look(FAILED_FOR({ codes }));
      const retries = retriesOf(failed.map(({ id }) => id));
      const answers = await commit(...retries, TRY_FIRST({ codes, now: now() }), TELL);
      return answers.at(-2)?.length ?? 0;
    },
  };
}
