import { type RawBuilder, sql } from 'kysely';
import { chooseJobs } from '../../inbox/choose-jobs.js';
import {
  type ClaimResult,
  type ClaimedJob,
  type ClaimRequest,
  type ClaimRef,
  MAX_ATTEMPTS,
  PARTS,
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
type LeaseStart = AtTime & { readonly leaseMs: number };
type State = Tables['inbox.jobs']['state'];

/**
 * A claim chooses among this many of the oldest due jobs of each priority, beside those that it has slots for. Later jobs are
 * considered once these are claimed.
 */
const CANDIDATES = 32;
/** Further chosen jobs that a claim may take instead of those that another worker claims at the same time. */
const SPARE_JOBS = 16;
/** How often one claim tries again because other workers were faster. */
const MAX_ROUNDS = 5;

const own = named('inbox.jobs');
const job = named('inbox.jobs', 'job');
const running = named('inbox.jobs', 'running');
const counter = named('inbox.claims');

const inState = (state: State) => sql`${own.state} = ${state}`;
const leaseEnd = (fn: SqlFunctions, { now, leaseMs }: Params<LeaseStart>) => fn.addMs(fn.clock(now), leaseMs);

const RUNNING = sql`running AS MATERIALIZED (
  SELECT ${own.part}, ${own.organization_id}, ${own.installation_id} FROM ${own()} WHERE ${inState('running')})`;
/** No running job excludes the job. An expired lease excludes others until its job is taken over, which happens first. */
const IS_FREE = sql`NOT EXISTS (SELECT 1 FROM running WHERE ${running.part} = ${job.part}
  AND (${running.organization_id} = ${job.organization_id} OR ${running.installation_id} = ${job.installation_id}))`;
/** The job failed during an outage of the registry and is claimed before others: see `prioritizeFailed`. */
const IS_FIRST = sql`${own.attempts} > 0 AND ${own.run_at} <= ${own.created_at}`;

const EACH_PART = PARTS.map(part => ({ part }));
const EACH_PRIORITY = PARTS.flatMap(part => Object.values(PRIORITIES).map(priority => ({ part, priority })));

/**
 * Reads the running jobs, the oldest due jobs that no running job excludes, and the next jobs that become due. Each search
 * uses one range of one index, however many jobs wait.
 */
const READ_QUEUE = prepared(({ fn }, params: Params<AtTime & { readonly limit: number }>) => {
  const now = fn.clock(params.now);
  const columns = sql.join([
    job.id,
    job.part,
    job.state,
    job.priority,
    job.attempts,
    job.installation_id,
    job.organization_id,
    job.run_at,
    job.created_at,
    job.claimed_until,
  ]);
  const due = (condition: RawBuilder<unknown>) =>
    sql`SELECT ${columns} FROM ${job()} WHERE ${condition} AND ${own.run_at} <= ${now} AND ${IS_FREE}
      ORDER BY ${own.run_at} LIMIT ${fn.cast('int', params.limit)}`;
  const next = (condition: RawBuilder<unknown>) =>
    sql`SELECT ${columns} FROM ${job()} WHERE ${condition} AND ${own.run_at} > ${now} ORDER BY ${own.run_at} LIMIT 1`;
  const waits = ({ part, priority }: Readonly<Record<'part' | 'priority', RawBuilder<unknown>>>) =>
    sql`${inState('waiting')} AND ${own.part} = ${part} AND ${own.priority} = ${priority}`;
  const isPaused = ({ part }: Readonly<Record<'part', RawBuilder<unknown>>>) =>
    sql`${inState('paused')} AND ${own.part} = ${part}`;
  const found = [
    sql`SELECT ${columns} FROM ${job()} WHERE ${inState('running')}`,
    fn.forEachRow(EACH_PART, ({ part }) =>
      due(sql`${inState('waiting')} AND ${own.part} = ${part} AND ${IS_FIRST}`),
    ),
    ...[due, next].flatMap(search => [
      fn.forEachRow(EACH_PRIORITY, row => search(waits(row))),
      fn.forEachRow(EACH_PART, row => search(isPaused(row))),
    ]),
  ];
  const other = named('inbox.jobs', 'other');
  return sqlStatement`WITH ${RUNNING} SELECT ${select({
    id: job.id,
    part: job.part,
    state: job.state,
    priority: job.priority,
    attempts: job.attempts,
    installationId: job.installation_id,
    organizationId: job.organization_id,
    runAt: job.run_at,
    createdAt: job.created_at,
    claimedUntil: job.claimed_until,
    lastStartedAt: sql<string | null>`(SELECT max(${other.started_at}) FROM ${other()}
      WHERE ${other.installation_id} = ${job.installation_id} AND ${other.part} = ${job.part})`,
  })} FROM (${sql.join(found, sql` UNION ALL `)}) AS job`;
});
const READ_COUNTER = prepared(
  ({ fn }, { now }: Params<AtTime>) =>
    sqlStatement`SELECT ${select({ now: fn.clock(now), last: counter.last })} FROM ${counter()}`,
);

/** Claims are numbered one after the other. The row stays locked, so the next claim waits for this transaction. */
const RESERVE_NUMBERS = prepared(({ db }, { slots }: Params<{ readonly slots: number }>) =>
  db.updateTable('inbox.claims').set(({ eb }) => ({ last: eb('last', '+', slots) })),
);
/** A lease that is too long was given by a clock that was ahead. */
const SHORTEN_LEASES = prepared(
  ({ fn }, params: Params<LeaseStart>) =>
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

const chosenJob = jsonRelation('chosen', { job_id: 'int', position: 'int' });
type TakeValues = LeaseStart & {
  readonly chosen: Table;
  readonly slots: number;
  /** How many of the reserved numbers are for this part and those after it. */
  readonly reserved: number;
};

/**
 * Claims the first of the chosen jobs that are still due and that no job excludes by now. Skips jobs that another transaction
 * has locked. A row of `locked` is found by its id and by nothing else: as long as statistics say that nothing waits,
 * PostgreSQL takes the indexes of waiting jobs for empty, and goes through all their dead entries for each row.
 */
const TAKE = prepared(({ fn }, params: Params<TakeValues>) => {
  const now = fn.clock(params.now);
  const { job_id: jobId, position } = chosenJob.columns;
  return sqlStatement`WITH ${RUNNING},
    locked AS MATERIALIZED (
      SELECT ${job.id} AS locked_id, ${position} AS position
      FROM ${chosenJob.from(fn, params.chosen)} JOIN ${job()} ON ${job.id} = ${jobId}
      WHERE ${job.attempts} < ${MAX_ATTEMPTS} AND CASE WHEN ${job.state} IN ('waiting', 'paused') THEN ${job.run_at}
          WHEN ${job.state} = 'running' THEN ${job.claimed_until} END <= ${now}
        AND (${job.state} = 'running' OR ${IS_FREE})
      ORDER BY ${position} LIMIT ${fn.cast('int', params.slots)} ${fn.forUpdateSkipLocked('job')}
    ),
    numbered AS (SELECT locked_id, row_number() OVER (ORDER BY position) AS number FROM locked)
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
const RENEW = prepared(({ fn }, params: Params<LeaseStart & ClaimRefs>) => {
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

type QueuedJob = ResultRow<typeof READ_QUEUE>;
type TakenJob = ResultRow<typeof TAKE>;

/** The jobs that matter to a claim, at one instant. */
interface Queue {
  readonly now: string;
  /** The highest claim number. */
  readonly last: number;
  readonly jobs: readonly QueuedJob[];
}

function isDue({ state, runAt, claimedUntil }: QueuedJob, { now }: Queue): boolean {
  return (state === 'running' ? (claimedUntil ?? '') : runAt) <= now;
}

function hasLongLease({ jobs, now }: Queue, leaseMs: number): boolean {
  const longest = Date.parse(now) + leaseMs;
  return jobs.some(({ claimedUntil }) => claimedUntil !== null && Date.parse(claimedUntil) > longest);
}

/** Counts the running jobs of each installation whose lease is valid. */
function countByInstallation(queue: Queue): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of queue.jobs) {
    const { state, installationId } = each;
    if (state !== 'running' || installationId === null || isDue(each, queue)) continue;
    counts.set(installationId, (counts.get(installationId) ?? 0) + 1);
  }
  return counts;
}

export function createClaims({ look, commit, now }: InboxDatabase): Claims {
  async function readQueue(values: AtTime & { readonly limit: number }): Promise<Queue> {
    const [[state], rows] = await look(READ_COUNTER(values), READ_QUEUE(values));
    if (state === undefined) throw new Error('expected the counter of claims, got none');
    // A job that failed during an outage is found twice.
    return { ...state, jobs: [...new Map(rows.map(row => [row.id, row])).values()] };
  }

  /** Claims jobs once. Reads before it writes: if nothing can be claimed, nobody waits for a lock. */
  async function claimOnce(parts: ClaimRequest['parts'], at: LeaseStart) {
    const limit = CANDIDATES + Math.max(0, ...parts.map(({ slots }) => slots));
    const queue = await readQueue({ ...at, limit });
    const due = (part: Part) => queue.jobs.filter(each => each.part === part && isDue(each, queue));
    const slotsFor = (part: Part) => (due(part).length === 0 ? 0 : slotsIn(parts, part));
    const slots = { data: slotsFor('data'), certificates: slotsFor('certificates') };
    const taken = { data: queue.last, certificates: queue.last + slots.data };
    const runningCounts = countByInstallation(queue);
    const choose = (part: Part) =>
      slots[part] === 0
        ? []
        : chooseJobs(due(part), runningCounts, taken[part]).slice(0, slots[part] + SPARE_JOBS);
    const chosen = { data: choose('data'), certificates: choose('certificates') };
    const wanted = PARTS.reduce((sum, part) => sum + Math.min(slots[part], chosen[part].length), 0);
    const hasWornOut = PARTS.some(
      part => slots[part] > 0 && due(part).some(({ attempts }) => attempts >= MAX_ATTEMPTS),
    );
    if (wanted === 0 && !hasWornOut) return { jobs: [], queue, isComplete: true };
    const all = slots.data + slots.certificates;
    const take = (part: Part, reserved: number) => {
      const table = chosenJob.toTable(chosen[part].map((id, position) => ({ job_id: id, position })));
      return table.rows.length === 0 ? null : TAKE({ ...at, chosen: table, slots: slots[part], reserved });
    };
    const [, , , dataJobs, certificateJobs] = await commit(
      hasLongLease(queue, at.leaseMs) ? SHORTEN_LEASES(at) : null,
      hasWornOut ? FAIL_WORN_OUT(at) : null,
      RESERVE_NUMBERS({ slots: all }),
      take('data', all),
      take('certificates', slots.certificates),
    );
    const jobs = [...dataJobs, ...certificateJobs];
    return { jobs, queue, isComplete: jobs.length > 0 && jobs.length === wanted };
  }

  return {
    /** Claims again if other workers claimed some of the chosen jobs at the same time. */
    claim: async ({ parts, leaseMs }) => {
      const at = { now: now(), leaseMs };
      const claimed: TakenJob[] = [];
      for (let round = 1; ; round += 1) {
        const free = parts.map(({ part, slots }) => ({
          part,
          slots: slots - claimed.filter(each => each.part === part).length,
        }));
        const { jobs, queue, isComplete } = await claimOnce(free, at);
        claimed.push(...jobs);
        if (isComplete || round === MAX_ROUNDS) return toResult(claimed, queue, parts, leaseMs);
      }
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
  claimed: readonly TakenJob[],
  queue: Queue,
  parts: ClaimRequest['parts'],
  leaseMs: number,
): ClaimResult {
  const queued = queue.jobs.filter(each => parts.some(({ part }) => part === each.part));
  const changes = queued
    .filter(each => !isDue(each, queue))
    .map(({ state, runAt, claimedUntil }) => (state === 'running' ? (claimedUntil ?? '') : runAt))
    .map(instant => Date.parse(instant) - Date.parse(queue.now));
  const delays = claimed.length === 0 ? changes : [...changes, leaseMs];
  return {
    jobs: claimed.map(toClaimedJob).toSorted((left, right) => left.claim - right.claim),
    moreMayWait: queued.some(each => isDue(each, queue)),
    nextChangeInMs: delays.length === 0 ? null : Math.min(...delays),
  };
}

function toClaimedJob({ claim, onlyDuplicates, payload, ...row }: TakenJob): ClaimedJob {
  return {
    ...row,
    claim: claim ?? 0,
    onlyDuplicates: onlyDuplicates === 1,
    payload: parseJobPayload(payload),
  };
}
