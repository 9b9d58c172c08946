import {
  type ClaimResult,
  type ClaimedJob,
  type ClaimRequest,
  type ClaimRef,
  MAX_ATTEMPTS,
  PRIORITIES,
  type Part,
  parseJobPayload,
} from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import type { Tables } from '../contract/tables.js';
import type { Dialect, Table } from '../dialect.js';
import { fixed, statement } from '../statement.js';
import { type Dated, type InboxDatabase, NOW } from './database.js';

type Claims = Pick<InboxPort, 'claim' | 'renew' | 'assignOrganization' | 'raiseClaims' | 'allocateClaim'>;
type Leased = Dated & { readonly leaseMs: number };
type Numbered = { readonly id: number };

/** The oldest due jobs of each priority that one claim chooses among; the rest have their turn when these are gone. */
const CANDIDATES = 128;
/** One of so many claims goes to the jobs that would otherwise wait for all others. */
const SHARE = 4;
const ALL_PRIORITIES = Object.values(PRIORITIES);

const until = (dialect: Dialect) => dialect.later(NOW(dialect), '@leaseMs');

const RUNNING = `running AS MATERIALIZED (
  SELECT part, organization_id, installation_id, claimed_until FROM inbox.jobs WHERE state = 'running')`;
/** A lease that has run out still holds until its job is taken over, which comes first. */
const FREE = `NOT EXISTS (SELECT 1 FROM running WHERE running.part = job.part
  AND (running.organization_id = job.organization_id OR running.installation_id = job.installation_id))`;

interface Looked {
  readonly part: Part;
  /** Whether a claim in this part would find something. */
  readonly isOpen: number;
  readonly now: string;
  readonly next: string | null;
}

/** Returns SQL for the waiting jobs of one priority. */
function isWaiting(priority: number): string {
  return `state = 'waiting' AND priority = ${priority}`;
}

const PARTS = { part: 'text' } as const;
const LOOK = statement<Dated & { parts: Table }, Looked>(dialect => {
  const now = NOW(dialect);
  const due = (which: string) =>
    `SELECT part, organization_id, installation_id FROM inbox.jobs WHERE ${which} AND part = w.part AND run_at <= ${now}`;
  const next = (which: string, column = 'run_at') =>
    `SELECT min(${column}) AS at FROM inbox.jobs WHERE ${which} AND part = w.part AND ${column} > ${now}`;
  // One search for each priority, by which the index begins.
  const upcoming = [...ALL_PRIORITIES.map(isWaiting), "state = 'paused'"];
  return `WITH ${RUNNING}
    SELECT w.part, ${now} AS now,
      CASE WHEN EXISTS (SELECT 1 FROM running WHERE running.part = w.part AND claimed_until <= ${now})
        OR EXISTS (SELECT 1 FROM (${upcoming.map(due).join(' UNION ALL ')}) AS job WHERE ${FREE})
        THEN 1 ELSE 0 END AS "isOpen",
      (SELECT min(at) FROM (${upcoming.map(which => next(which)).join(' UNION ALL ')}
        UNION ALL ${next("state = 'running'", 'claimed_until')}) AS changes) AS next
    FROM ${dialect.rows('@parts', 'w', PARTS)}`;
});

/** Claims are numbered one after the other: whoever takes so many has the last of them, and waits for who came before. */
const NUMBER = statement<{ slots: number }>('UPDATE inbox.claims SET last = last + @slots');
/** One that is too long was given by a clock that was ahead. */
const SHORTEN = statement<Leased>(
  dialect =>
    `UPDATE inbox.jobs SET claimed_until = ${until(dialect)} WHERE id IN (
       SELECT id FROM inbox.jobs AS j WHERE state = 'running' AND claimed_until > ${until(dialect)}
       ${dialect.forUpdateOfFree('j')})`,
);
const FAIL_WORN_OUT = statement<Dated>(
  dialect =>
    `UPDATE inbox.jobs SET state = 'failed', finished_at = ${NOW(dialect)}, claimed_until = NULL,
       error_or_pause_code = CASE state WHEN 'running' THEN 'never_finished' ELSE error_or_pause_code END,
       last_error = CASE state WHEN 'running'
         THEN 'started ' || attempts || ' times, and its process never came back' ELSE last_error END
     WHERE id IN (
       SELECT id FROM inbox.jobs AS j WHERE attempts >= ${MAX_ATTEMPTS} AND state IN ('waiting', 'running')
         AND CASE state WHEN 'waiting' THEN run_at ELSE claimed_until END <= ${NOW(dialect)}
       ${dialect.forUpdateOfFree('j')})`,
);

/** What failed while the registry did not answer: see `tryFirst`. */
const FIRST = 'attempts > 0 AND run_at <= created_at';

/**
 * Returns SQL that interleaves two ranked queues: the number of the claim by which a job gets its turn, after `taken` claims.
 * Of every four claims the last goes to the second queue.
 */
function turnOf(queue: 'first' | 'second', rank: string, taken: string): string {
  if (queue === 'second') return `((${taken}) / ${SHARE} + ${rank}) * ${SHARE}`;
  const place = `((${taken}) - (${taken}) / ${SHARE} + ${rank})`;
  return `(${place} + (${place} - 1) / ${SHARE - 1})`;
}

/**
 * `due` are the oldest jobs of each priority that no claim excludes. Before all others come those whose lease ran out, so that
 * a lost claim is taken over and never run beside, and jobs that failed during an outage of the registry (lane 0).
 * `ranked` has at most one of each installation and of each organization, in fair order within its lane; `chosen` interleaves
 * the lanes as PRIORITIES says; `held` are those that nobody else is at. A row of those is found by its id and by nothing
 * else: as long as statistics say that nothing waits, PostgreSQL takes the indexes of what waits for empty, and goes through
 * all that is dead in them for each row.
 */
const TAKE = statement<Leased & { part: Part; slots: number; below: number }, Tables['inbox.jobs']>(
  dialect => {
    const now = NOW(dialect);
    const oldest = (which: string, column = 'run_at') =>
      `SELECT * FROM (SELECT * FROM inbox.jobs AS job WHERE ${which} AND part = @part AND ${column} <= ${now}
       ORDER BY ${column} LIMIT ${CANDIDATES}) AS oldest`;
    const waiting = ALL_PRIORITIES.map(priority =>
      oldest(`${isWaiting(priority)} AND NOT (${FIRST}) AND ${FREE}`),
    );
    // As an integer: a driver binds numbers as reals, and the turns are divided.
    const taken = `(SELECT last FROM inbox.claims) - ${dialect.as('int', '@below')}`;
    const othersTaken = `(${taken}) / ${SHARE}`;
    return `WITH ${RUNNING},
    due AS MATERIALIZED (
      ${oldest("state = 'running'", 'claimed_until')}
      UNION ALL ${oldest(`state = 'waiting' AND ${FIRST} AND ${FREE}`)}
      UNION ALL ${waiting.join(' UNION ALL ')}
      UNION ALL ${oldest(`state = 'paused' AND ${FREE}`)}
    ),
    laned AS (
      SELECT *, CASE WHEN state = 'running' OR (${FIRST}) THEN 0
        WHEN state = 'paused' THEN ${PRIORITIES.scheduled} ELSE priority END AS lane
      FROM due
    ),
    placed AS (
      SELECT id, run_at, lane,
        (SELECT count(*) FROM running WHERE running.claimed_until > ${now}
          AND running.installation_id = laned.installation_id) AS running,
        (SELECT max(earlier.started_at) FROM inbox.jobs AS earlier
          WHERE earlier.installation_id = laned.installation_id AND earlier.part = @part) AS started,
        row_number() OVER (PARTITION BY coalesce(installation_id, 'job ' || id)
          ORDER BY lane, state, run_at, id) AS of_installation,
        row_number() OVER (PARTITION BY coalesce(organization_id, 'job ' || id)
          ORDER BY lane, state, run_at, id) AS of_organization
      FROM laned
    ),
    ranked AS (
      SELECT id, lane, row_number() OVER (PARTITION BY lane ORDER BY running, started NULLS FIRST, run_at, id) AS rank
      FROM placed WHERE of_installation = 1 AND of_organization = 1
    ),
    others AS (
      SELECT id, row_number() OVER (ORDER BY CASE lane
        WHEN ${PRIORITIES.firstRead} THEN ${turnOf('first', 'rank', othersTaken)}
        ELSE ${turnOf('second', 'rank', othersTaken)} END) AS rank
      FROM ranked WHERE lane IN (${PRIORITIES.firstRead}, ${PRIORITIES.scheduled})
    ),
    chosen AS MATERIALIZED (
      SELECT ranked.id, row_number() OVER (ORDER BY CASE lane WHEN 0 THEN 0
        WHEN ${PRIORITIES.announced} THEN ${turnOf('first', 'ranked.rank', taken)}
        ELSE ${turnOf('second', 'others.rank', taken)} END, ranked.rank) AS place
      FROM ranked LEFT JOIN others ON others.id = ranked.id
    ),
    held AS MATERIALIZED (
      SELECT job.id AS held_id, place FROM chosen JOIN inbox.jobs AS job ON job.id = chosen.id
      WHERE CASE WHEN job.state IN ('waiting', 'paused') THEN job.run_at
        WHEN job.state = 'running' THEN job.claimed_until END <= ${now}
      ORDER BY place LIMIT @slots ${dialect.forUpdateOfFree('job')}
    ),
    numbered AS (SELECT held_id, row_number() OVER (ORDER BY place) AS number FROM held)
    UPDATE inbox.jobs SET state = 'running', attempts = attempts + 1, started_at = ${now},
      claimed_until = ${until(dialect)}, claim = (SELECT last FROM inbox.claims) - @below + number
    FROM numbered WHERE jobs.id = held_id
    RETURNING *`;
  },
);

const HELD = { held_id: 'int', held_claim: 'int' } as const;
/** Whoever takes several rows of jobs does so in the order of their keys, as those who ask for jobs do. */
const HOLD = statement<{ held: Table }>(
  ({ rows, forUpdate }) =>
    `SELECT id FROM inbox.jobs WHERE id IN (
       SELECT held_id FROM ${rows('@held', 'held', HELD)}
       UNION ALL
       SELECT upcoming.id FROM ${rows('@held', 'held', HELD)}
       JOIN inbox.jobs AS mine ON mine.id = held_id
       JOIN inbox.jobs AS upcoming ON upcoming.dedupe_key = mine.dedupe_key AND upcoming.state IN ('waiting', 'paused'))
     ORDER BY dedupe_key, id ${forUpdate}`,
);
const RENEW = statement<Leased & { held: Table }, { readonly claim: number }>(
  dialect =>
    `UPDATE inbox.jobs SET claimed_until = ${until(dialect)} FROM ${dialect.rows('@held', 'held', HELD)}
     WHERE jobs.id = held_id AND jobs.claim = held_claim AND jobs.state = 'running' RETURNING claim`,
);

export const IS_HELD = "id = @id AND claim = @claim AND state = 'running'";
const STILL_HELD = statement<ClaimRef & Record<string, number>, Numbered>(
  `SELECT id FROM inbox.jobs WHERE ${IS_HELD}`,
);
const BIND = statement<ClaimRef & { organizationId: string }, Numbered>(
  `UPDATE inbox.jobs SET organization_id = @organizationId WHERE ${IS_HELD}
     AND NOT EXISTS (SELECT 1 FROM inbox.jobs AS other WHERE other.state = 'running' AND other.id <> jobs.id
       AND other.part = jobs.part AND other.organization_id = @organizationId)
   RETURNING id`,
);
const RAISE = statement<{ above: number }>('UPDATE inbox.claims SET last = @above WHERE last < @above');
const NEXT_NUMBER = fixed<{ readonly last: number }>(
  'UPDATE inbox.claims SET last = last + 1 RETURNING last',
);

/** Null where there is but one. */
export function holdAll(held: readonly ClaimRef[]) {
  return held.length < 2 ? null : HOLD({ held: tableOf(held) });
}

function tableOf(held: readonly ClaimRef[]): Table {
  return { columns: HELD, rows: held.map(({ id, claim }) => [id, claim]) };
}

export function createClaims({ look, commit, now }: InboxDatabase): Claims {
  return {
    /** Looked at before it is written: where nothing can be claimed nobody waits for a lock. */
    claim: async ({ parts, leaseMs }) => {
      const at = { now: now(), leaseMs };
      const ask = LOOK({ ...at, parts: { columns: PARTS, rows: parts.map(({ part }) => [part]) } });
      const [seen] = await look(ask);
      const wanted = (part: Part) =>
        seen.some(each => each.part === part && each.isOpen === 1) ? slotsIn(parts, part) : 0;
      const [data, certificates] = [wanted('data'), wanted('certificates')];
      const all = data + certificates;
      if (all === 0) return claimedOf([], seen, null);
      const take = (part: Part, slots: number, below: number) =>
        slots === 0 ? null : TAKE({ ...at, part, slots, below });
      const [, , , some, others] = await commit(
        SHORTEN(at),
        FAIL_WORN_OUT(at),
        NUMBER({ slots: all }),
        take('data', data, all),
        take('certificates', certificates, certificates),
      );
      const taken = [...some, ...others];
      return taken.length > 0 ? claimedOf(taken, seen, leaseMs) : claimedOf([], (await look(ask))[0], null);
    },
    renew: async (held, leaseMs) => {
      if (held.length === 0) return [];
      const [, renewed] = await commit(holdAll(held), RENEW({ held: tableOf(held), leaseMs, now: now() }));
      const kept = new Set(renewed.map(({ claim }) => claim));
      return held.flatMap(({ id, claim }) => (kept.has(claim) ? [] : [id]));
    },
    assignOrganization: async ({ id, claim }, organizationId) => {
      const [held, bound] = await commit(STILL_HELD({ id, claim }), BIND({ id, claim, organizationId }));
      if (held.length === 0) return 'lost';
      return bound.length === 1 ? 'ours' : 'busy';
    },
    raiseClaims: async above => void (await commit(RAISE({ above }))),
    allocateClaim: async above => {
      const [, [taken]] = await commit(RAISE({ above }), NEXT_NUMBER);
      if (taken === undefined) throw new Error('expected the counter of claims, got none');
      return taken.last;
    },
  };
}

function slotsIn(parts: ClaimRequest['parts'], part: Part): number {
  return parts.find(each => each.part === part)?.slots ?? 0;
}

/** `seen`: how it was before, so that what was taken waits no more, but others may. */
function claimedOf(
  rows: readonly Tables['inbox.jobs'][],
  seen: readonly Looked[],
  leaseMs: number | null,
): ClaimResult {
  const ends = leaseMs === null ? [] : [leaseMs];
  const changes = seen.flatMap(({ now, next }) =>
    next === null ? [] : [Date.parse(next) - Date.parse(now)],
  );
  const all = [...changes, ...ends];
  return {
    jobs: rows.map(claimedJob).toSorted((left, right) => left.claim - right.claim),
    moreMayWait: seen.some(({ isOpen }) => isOpen === 1),
    nextChangeInMs: all.length === 0 ? null : Math.min(...all),
  };
}

/** What a row says to whoever has claimed it. */
function claimedJob(row: Tables['inbox.jobs']): ClaimedJob {
  return {
    id: row.id,
    claim: row.claim ?? 0,
    kind: row.kind,
    organizationId: row.organization_id,
    installationId: row.installation_id,
    part: row.part,
    dedupeKey: row.dedupe_key,
    trigger: row.trigger,
    onlyDuplicates: row.only_duplicates_asked === 1,
    payload: parseJobPayload(row.payload),
    attempts: row.attempts,
    runAt: row.run_at,
    createdAt: row.created_at,
  };
}
