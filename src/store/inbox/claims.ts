import { type RawBuilder, sql } from 'kysely';
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
import type { Table } from '../dialect.js';
import { jsonRelation, named, select, sqlStatement } from '../sql/columns.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import type { AtTime, InboxDatabase } from './database.js';

type Claims = Pick<InboxPort, 'claim' | 'renew' | 'assignOrganization' | 'raiseClaims' | 'allocateClaim'>;
type AtTimeWithLease = AtTime & { readonly leaseMs: number };
type State = Tables['inbox.jobs']['state'];

/** The oldest due jobs of each priority that one claim chooses among. Later jobs are considered once these are claimed. */
const CANDIDATES = 128;
/** One of this many claims goes to the queue with the lower priority, so that its jobs do not wait for all others. */
const SHARE = 4;
const ALL_PRIORITIES = Object.values(PRIORITIES);

const own = named('inbox.jobs');
const job = named('inbox.jobs', 'job');
const other = named('inbox.jobs', 'other');
const running = named('inbox.jobs', 'running');
const counter = named('inbox.claims');

const inState = (state: State) => sql`${own.state} = ${state}`;
const waitsWith = (priority: number) => sql`${inState('waiting')} AND ${own.priority} = ${priority}`;
const leaseEnd = (fn: SqlFunctions, { now, leaseMs }: Params<AtTimeWithLease>) =>
  fn.addMs(fn.clock(now), leaseMs);
const unionAll = (queries: readonly RawBuilder<unknown>[]) => sql.join(queries, sql` UNION ALL `);

const RUNNING = sql`running AS MATERIALIZED (
  SELECT ${own.part}, ${own.organization_id}, ${own.installation_id}, ${own.claimed_until} FROM ${own()} WHERE ${inState('running')})`;
/** No running job excludes the job. An expired lease excludes others until its job is taken over, which happens first. */
const IS_FREE = sql`NOT EXISTS (SELECT 1 FROM running WHERE ${running.part} = ${job.part}
  AND (${running.organization_id} = ${job.organization_id} OR ${running.installation_id} = ${job.installation_id}))`;

const requestedPart = jsonRelation('requested', { part: 'text' });
/** Reads for each part whether a claim would find a job, and when that changes next. */
const READ_QUEUE = prepared(({ fn }, params: Params<AtTime & { readonly parts: Table }>) => {
  const now = fn.clock(params.now);
  const { part } = requestedPart.columns;
  const due = (condition: RawBuilder<unknown>) =>
    sql`SELECT ${own.part}, ${own.organization_id}, ${own.installation_id} FROM ${own()}
      WHERE ${condition} AND ${own.part} = ${part} AND ${own.run_at} <= ${now}`;
  const next = (condition: RawBuilder<unknown>, instant: RawBuilder<string | null> = own.run_at) =>
    sql`SELECT min(${instant}) AS at FROM ${own()} WHERE ${condition} AND ${own.part} = ${part} AND ${instant} > ${now}`;
  // One search for each priority, because the index begins with it.
  const upcoming = [...ALL_PRIORITIES.map(waitsWith), inState('paused')];
  const changes = [
    ...upcoming.map(condition => next(condition)),
    next(inState('running'), own.claimed_until),
  ];
  const hasDueJob = sql<number>`CASE WHEN EXISTS (
        SELECT 1 FROM running WHERE ${running.part} = ${part} AND ${running.claimed_until} <= ${now})
      OR EXISTS (SELECT 1 FROM (${unionAll(upcoming.map(due))}) AS job WHERE ${IS_FREE})
    THEN 1 ELSE 0 END`;
  const nextChangeAt = sql<string | null>`(SELECT min(at) FROM (${unionAll(changes)}) AS changes)`;
  return sqlStatement`WITH ${RUNNING} SELECT ${select({ part, now, hasDueJob, nextChangeAt })}
    FROM ${requestedPart.from(fn, params.parts)}`;
});
type QueueState = ResultRow<typeof READ_QUEUE>;

/** Claims are numbered one after the other. The row stays locked, so the next claim waits for this transaction. */
const RESERVE_NUMBERS = prepared(({ db }, { slots }: Params<{ readonly slots: number }>) =>
  db.updateTable('inbox.claims').set(({ eb }) => ({ last: eb('last', '+', slots) })),
);
/** A lease that is too long was given by a clock that was ahead. */
const SHORTEN_LEASES = prepared(
  ({ fn }, params: Params<AtTimeWithLease>) =>
    sqlStatement`UPDATE ${own()} SET ${own.claimed_until} = ${leaseEnd(fn, params)} WHERE ${own.id} IN (
      SELECT ${job.id} FROM ${job()} WHERE ${job.state} = 'running' AND ${job.claimed_until} > ${leaseEnd(fn, params)}
      ${fn.forUpdateSkipLocked('job')})`,
);
const FAIL_WORN_OUT = prepared(({ fn }, params: Params<AtTime>) => {
  const now = fn.clock(params.now);
  return sqlStatement`UPDATE ${own()} SET ${own.state} = 'failed', ${own.finished_at} = ${now}, ${own.claimed_until} = NULL,
      ${own.error_or_pause_code} = CASE ${own.state} WHEN 'running' THEN 'never_finished' ELSE ${own.error_or_pause_code} END,
      ${own.last_error} = CASE ${own.state} WHEN 'running'
        THEN 'started ' || ${own.attempts} || ' times, and its process never came back' ELSE ${own.last_error} END
    WHERE ${own.id} IN (
      SELECT ${job.id} FROM ${job()} WHERE ${job.attempts} >= ${MAX_ATTEMPTS} AND ${job.state} IN ('waiting', 'running')
        AND CASE ${job.state} WHEN 'waiting' THEN ${job.run_at} ELSE ${job.claimed_until} END <= ${now}
      ${fn.forUpdateSkipLocked('job')})`;
});

/** The job failed during an outage of the registry and is claimed before others: see `prioritizeFailed`. */
const IS_FIRST = sql`${own.attempts} > 0 AND ${own.run_at} <= ${own.created_at}`;

/**
 * Returns SQL that interleaves two ranked queues: the number of the claim by which a job gets its turn, after `taken` claims.
 * Of every four claims the last goes to the second queue.
 */
function turnOf(queue: 'first' | 'second', rank: RawBuilder<unknown>, taken: RawBuilder<unknown>) {
  if (queue === 'second') return sql`((${taken}) / ${SHARE} + ${rank}) * ${SHARE}`;
  const place = sql`((${taken}) - (${taken}) / ${SHARE} + ${rank})`;
  return sql`(${place} + (${place} - 1) / ${SHARE - 1})`;
}

type TakeValues = AtTimeWithLease & {
  readonly part: Part;
  readonly slots: number;
  /** How many of the reserved numbers are for this part and those after it. */
  readonly reserved: number;
};

/**
 * Claims the due jobs of one part.
 * `due` are the oldest jobs of each priority that no claim excludes. Before all others come those whose lease ran out, so that
 * a lost claim is taken over and never run beside, and jobs that failed during an outage of the registry (lane 0).
 * `ranked` has at most one of each installation and of each organization, in fair order within its lane; `chosen` interleaves
 * the lanes as PRIORITIES says; `locked` are those that no other transaction has locked. A row of those is found by its id
 * and by nothing else: as long as statistics say that nothing waits, PostgreSQL takes the indexes of waiting jobs for empty,
 * and goes through all their dead entries for each row.
 */
const TAKE = prepared(({ fn }, params: Params<TakeValues>) => {
  const now = fn.clock(params.now);
  const oldest = (condition: RawBuilder<unknown>, instant: RawBuilder<string | null> = own.run_at) =>
    sql`SELECT * FROM (SELECT * FROM ${job()} WHERE ${condition} AND ${own.part} = ${params.part} AND ${instant} <= ${now}
      ORDER BY ${instant} LIMIT ${CANDIDATES}) AS oldest`;
  const due = [
    oldest(inState('running'), own.claimed_until),
    oldest(sql`${inState('waiting')} AND ${IS_FIRST} AND ${IS_FREE}`),
    ...ALL_PRIORITIES.map(priority =>
      oldest(sql`${waitsWith(priority)} AND NOT (${IS_FIRST}) AND ${IS_FREE}`),
    ),
    oldest(sql`${inState('paused')} AND ${IS_FREE}`),
  ];
  // As an integer: a driver binds numbers as reals, and the turns are divided.
  const taken = sql`(SELECT ${counter.last} FROM ${counter()}) - ${fn.cast('int', params.reserved)}`;
  const takenByOthers = sql`(${taken}) / ${SHARE}`;
  const rank = sql`rank`;
  return sqlStatement`WITH ${RUNNING},
    due AS MATERIALIZED (${unionAll(due)}),
    laned AS (
      SELECT *, CASE WHEN ${inState('running')} OR (${IS_FIRST}) THEN 0
        WHEN ${inState('paused')} THEN ${PRIORITIES.scheduled} ELSE ${own.priority} END AS lane
      FROM due
    ),
    placed AS (
      SELECT ${own.id}, ${own.run_at}, lane,
        (SELECT count(*) FROM running WHERE ${running.claimed_until} > ${now}
          AND ${running.installation_id} = laned.installation_id) AS running,
        (SELECT max(${other.started_at}) FROM ${other()}
          WHERE ${other.installation_id} = laned.installation_id AND ${other.part} = ${params.part}) AS started,
        row_number() OVER (PARTITION BY coalesce(${own.installation_id}, 'job ' || ${own.id})
          ORDER BY lane, ${own.state}, ${own.run_at}, ${own.id}) AS of_installation,
        row_number() OVER (PARTITION BY coalesce(${own.organization_id}, 'job ' || ${own.id})
          ORDER BY lane, ${own.state}, ${own.run_at}, ${own.id}) AS of_organization
      FROM laned
    ),
    ranked AS (
      SELECT id, lane, row_number() OVER (PARTITION BY lane ORDER BY running, started NULLS FIRST, run_at, id) AS rank
      FROM placed WHERE of_installation = 1 AND of_organization = 1
    ),
    others AS (
      SELECT id, row_number() OVER (ORDER BY CASE lane
        WHEN ${PRIORITIES.firstRead} THEN ${turnOf('first', rank, takenByOthers)}
        ELSE ${turnOf('second', rank, takenByOthers)} END) AS rank
      FROM ranked WHERE lane IN (${PRIORITIES.firstRead}, ${PRIORITIES.scheduled})
    ),
    chosen AS MATERIALIZED (
      SELECT ranked.id, row_number() OVER (ORDER BY CASE lane WHEN 0 THEN 0
        WHEN ${PRIORITIES.announced} THEN ${turnOf('first', sql`ranked.rank`, taken)}
        ELSE ${turnOf('second', sql`others.rank`, taken)} END, ranked.rank) AS place
      FROM ranked LEFT JOIN others ON others.id = ranked.id
    ),
    locked AS MATERIALIZED (
      SELECT ${job.id} AS locked_id, place FROM chosen JOIN ${job()} ON ${job.id} = chosen.id
      WHERE CASE WHEN ${job.state} IN ('waiting', 'paused') THEN ${job.run_at}
        WHEN ${job.state} = 'running' THEN ${job.claimed_until} END <= ${now}
      ORDER BY place LIMIT ${params.slots} ${fn.forUpdateSkipLocked('job')}
    ),
    numbered AS (SELECT locked_id, row_number() OVER (ORDER BY place) AS number FROM locked)
    UPDATE ${own()} SET ${own.state} = 'running', ${own.attempts} = ${own.attempts} + 1, ${own.started_at} = ${now},
      ${own.claimed_until} = ${leaseEnd(fn, params)},
      ${own.claim} = (SELECT ${counter.last} FROM ${counter()}) - ${params.reserved} + number
    FROM numbered WHERE ${own.id} = locked_id
    RETURNING ${select({
      id: own.id,
      claim: own.claim,
      kind: own.kind,
      organizationId: own.organization_id,
      installationId: own.installation_id,
      part: own.part,
      dedupeKey: own.dedupe_key,
      trigger: own.trigger,
      onlyDuplicates: own.only_duplicates_asked,
      payload: own.payload,
      attempts: own.attempts,
      runAt: own.run_at,
      createdAt: own.created_at,
    })}`;
});

const claimRef = jsonRelation('ref', { job_id: 'int', claim_number: 'int' });
type ClaimRefs = { readonly refs: Table };

/** Locks jobs, and the waiting jobs that they may merge into, in the order of their keys, as requests for jobs do. */
const LOCK_CLAIMS = prepared(({ fn }, { refs }: Params<ClaimRefs>) => {
  const { job_id: jobId } = claimRef.columns;
  const upcoming = named('inbox.jobs', 'upcoming');
  return sqlStatement`SELECT ${own.id} FROM ${own()} WHERE ${own.id} IN (
      SELECT ${jobId} FROM ${claimRef.from(fn, refs)}
      UNION ALL
      SELECT ${upcoming.id} FROM ${claimRef.from(fn, refs)}
      JOIN ${job()} ON ${job.id} = ${jobId}
      JOIN ${upcoming()} ON ${upcoming.dedupe_key} = ${job.dedupe_key} AND ${upcoming.state} IN ('waiting', 'paused'))
    ORDER BY ${own.dedupe_key}, ${own.id} ${fn.forUpdate}`;
});
const RENEW = prepared(({ fn }, params: Params<AtTimeWithLease & ClaimRefs>) => {
  const { job_id: jobId, claim_number: claim } = claimRef.columns;
  return sqlStatement`UPDATE ${own()} SET ${own.claimed_until} = ${leaseEnd(fn, params)} FROM ${claimRef.from(fn, params.refs)}
    WHERE ${own.id} = ${jobId} AND ${own.claim} = ${claim} AND ${inState('running')} RETURNING ${select({ claim: own.claim })}`;
});

/** The job still runs under this claim. */
export const isClaimed = ({ id, claim }: Params<ClaimRef>) =>
  sql`${own.id} = ${id} AND ${own.claim} = ${claim} AND ${inState('running')}`;

const FIND_CLAIM = prepared(
  ({ db }, { id, claim }: Params<{ readonly id: number; readonly claim: number }>) =>
    db
      .selectFrom('inbox.jobs')
      .select('id')
      .where('id', '=', id)
      .where('claim', '=', claim)
      .where('state', '=', 'running'),
);
type Assignment = { readonly id: number; readonly claim: number; readonly organizationId: string };
const ASSIGN_ORGANIZATION = prepared(({ db }, { id, claim, organizationId }: Params<Assignment>) =>
  db
    .updateTable('inbox.jobs')
    .set({ organization_id: organizationId })
    .where('id', '=', id)
    .where('claim', '=', claim)
    .where('state', '=', 'running')
    .where(eb =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('inbox.jobs as other')
            .select('other.id')
            .where('other.state', '=', 'running')
            .whereRef('other.id', '<>', 'inbox.jobs.id')
            .whereRef('other.part', '=', 'inbox.jobs.part')
            .where('other.organization_id', '=', organizationId),
        ),
      ),
    )
    .returning('id'),
);
const RAISE_COUNTER = prepared(({ db }, { minimum }: Params<{ readonly minimum: number }>) =>
  db.updateTable('inbox.claims').set({ last: minimum }).where('last', '<', minimum),
);
const ALLOCATE_NUMBER = prepared(({ db }) =>
  db
    .updateTable('inbox.claims')
    .set(({ eb }) => ({ last: eb('last', '+', 1) }))
    .returning('last'),
);

/** Returns a statement that locks several claimed jobs in a fixed order; null for fewer than two, which need no order. */
export function lockClaims(refs: readonly ClaimRef[]) {
  return refs.length < 2 ? null : LOCK_CLAIMS({ refs: toTable(refs) });
}

function toTable(refs: readonly ClaimRef[]): Table {
  return claimRef.toTable(refs.map(({ id, claim }) => ({ job_id: id, claim_number: claim })));
}

export function createClaims({ look, commit, now }: InboxDatabase): Claims {
  return {
    /** Reads before it writes: if nothing can be claimed, nobody waits for a lock. */
    claim: async ({ parts, leaseMs }) => {
      const at = { now: now(), leaseMs };
      const readQueue = READ_QUEUE({ ...at, parts: requestedPart.toTable(parts) });
      const [queue] = await look(readQueue);
      const slotsFor = (part: Part) =>
        queue.some(each => each.part === part && each.hasDueJob === 1) ? slotsIn(parts, part) : 0;
      const slots = { data: slotsFor('data'), certificates: slotsFor('certificates') };
      const all = slots.data + slots.certificates;
      if (all === 0) return toResult([], queue, null);
      const take = (part: Part, reserved: number) =>
        slots[part] === 0 ? null : TAKE({ ...at, part, slots: slots[part], reserved });
      const [, , , dataJobs, certificateJobs] = await commit(
        SHORTEN_LEASES(at),
        FAIL_WORN_OUT(at),
        RESERVE_NUMBERS({ slots: all }),
        take('data', all),
        take('certificates', slots.certificates),
      );
      const jobs = [...dataJobs, ...certificateJobs];
      return jobs.length > 0
        ? toResult(jobs, queue, leaseMs)
        : toResult([], (await look(readQueue))[0], null);
    },
    renew: async (refs, leaseMs) => {
      if (refs.length === 0) return [];
      const renew = RENEW({ refs: toTable(refs), leaseMs, now: now() });
      const [, renewed] = await commit(lockClaims(refs), renew);
      const claims = new Set(renewed.map(({ claim }) => claim));
      return refs.flatMap(({ id, claim }) => (claims.has(claim) ? [] : [id]));
    },
    assignOrganization: async ({ id, claim }, organizationId) => {
      const [claimed, assigned] = await commit(
        FIND_CLAIM({ id, claim }),
        ASSIGN_ORGANIZATION({ id, claim, organizationId }),
      );
      if (claimed.length === 0) return 'lost';
      return assigned.length === 1 ? 'ours' : 'busy';
    },
    raiseClaims: async minimum => void (await commit(RAISE_COUNTER({ minimum }))),
    allocateClaim: async minimum => {
      const [, [allocated]] = await commit(RAISE_COUNTER({ minimum }), ALLOCATE_NUMBER());
      if (allocated === undefined) throw new Error('expected the counter of claims, got none');
      return allocated.last;
    },
  };
}

function slotsIn(parts: ClaimRequest['parts'], part: Part): number {
  return parts.find(each => each.part === part)?.slots ?? 0;
}

/** `queue` is the state before the claim: the claimed jobs no longer wait, but others may. */
function toResult(
  jobs: readonly ResultRow<typeof TAKE>[],
  queue: readonly QueueState[],
  leaseMs: number | null,
): ClaimResult {
  const leaseEnds = leaseMs === null ? [] : [leaseMs];
  const changes = queue.flatMap(({ now, nextChangeAt }) =>
    nextChangeAt === null ? [] : [Date.parse(nextChangeAt) - Date.parse(now)],
  );
  const delays = [...changes, ...leaseEnds];
  return {
    jobs: jobs.map(toClaimedJob).toSorted((left, right) => left.claim - right.claim),
    moreMayWait: queue.some(({ hasDueJob }) => hasDueJob === 1),
    nextChangeInMs: delays.length === 0 ? null : Math.min(...delays),
  };
}

function toClaimedJob({ claim, onlyDuplicates, payload, ...row }: ResultRow<typeof TAKE>): ClaimedJob {
  return {
    ...row,
    claim: claim ?? 0,
    onlyDuplicates: onlyDuplicates === 1,
    payload: parseJobPayload(payload),
  };
}
