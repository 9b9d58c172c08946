import { sql } from 'kysely';
import { chooseJobs } from '../../inbox/choose-jobs.js';
import {
  type ClaimResult,
  type ClaimedJob,
  type ClaimRequest,
  type ClaimRef,
  MAX_ATTEMPTS,
  PARTS,
  type JobPart,
  parseJobPayload,
} from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import type { Table } from '../dialect.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { NowParam, InboxDatabase } from './inbox-database.js';
import type { JobQueue, QueueSnapshot, QueuedJob, ClaimedJobRow } from './job-steps.js';

type Claims = Pick<InboxPort, 'claim' | 'renew' | 'assignOrganization' | 'raiseClaims' | 'allocateClaim'>;
type LeaseStart = NowParam & { readonly leaseMs: number };

/** A claim chooses among the oldest due jobs of each priority: one for each slot, and this many more. */
const EXTRA_CANDIDATES = 32;
/** Jobs chosen beyond the slots. They replace jobs that another worker claims at the same time. */
const SPARE_JOBS = 16;
/** Limits the rounds of one claim. Another round follows if other workers were faster. */
const MAX_ROUNDS = 5;

const own = tableRef('inbox.jobs');
const job = tableRef('inbox.jobs', 'job');

const leaseEnd = (fn: SqlFunctions, { now, leaseMs }: Params<LeaseStart>) => fn.addMs(fn.clock(now), leaseMs);

/** Shortens leases that are too long, because a worker whose clock was ahead wrote them. */
const SHORTEN_LEASES = prepared(
  ({ fn }, params: Params<LeaseStart>) =>
    sqlStatement`UPDATE ${own()} SET ${own.claimed_until} = ${leaseEnd(fn, params)} WHERE ${own.id} IN (
      SELECT ${job.id} FROM ${job()} WHERE ${job.state} = 'running' AND ${job.claimed_until} > ${leaseEnd(fn, params)}
      ${fn.forUpdateSkipLocked('job')})`,
);
/** Fails jobs without attempts left. */
const FAIL_EXHAUSTED = prepared(({ fn }, params: Params<NowParam>) => {
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

const claimRef = jsonRelation('ref', { job_id: 'int', claim_number: 'int' });
type ClaimRefs = { readonly refs: Table };

/** Locks jobs and the waiting jobs that they may merge into. Requests for jobs use the same order, which prevents deadlocks. */
const LOCK_CLAIMS = prepared(({ fn }, { refs }: Params<ClaimRefs>) => {
  const { job_id: jobId } = claimRef.columns;
  const upcoming = tableRef('inbox.jobs', 'upcoming');
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
    WHERE ${own.id} = ${jobId} AND ${own.claim} = ${claim} AND ${own.state} = 'running' RETURNING ${select({ claim: own.claim })}`;
});

/** Returns the condition that a job still runs under a claim. */
export const isClaimed = ({ id, claim }: Params<ClaimRef>) =>
  sql`${own.id} = ${id} AND ${own.claim} = ${claim} AND ${own.state} = 'running'`;

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

/** Builds the statement that locks jobs in a fixed order to prevent deadlocks. Returns null for fewer than two jobs. */
export function buildJobLock(refs: readonly ClaimRef[]) {
  return refs.length < 2 ? null : LOCK_CLAIMS({ refs: toClaimTable(refs) });
}

function toClaimTable(refs: readonly ClaimRef[]): Table {
  return claimRef.toTable(refs.map(({ id, claim }) => ({ job_id: id, claim_number: claim })));
}

/** Returns whether a waiting job is due, or the lease of a running job has expired. */
function isDue({ state, runAt, claimedUntil }: QueuedJob, { now }: QueueSnapshot): boolean {
  return (state === 'running' ? (claimedUntil ?? '') : runAt) <= now;
}

/** Returns whether any job has a lease that ends later than `leaseMs` from now. A worker whose clock was ahead wrote such a lease. */
function hasTooLongLease({ jobs, now }: QueueSnapshot, leaseMs: number): boolean {
  const latestEnd = Date.parse(now) + leaseMs;
  return jobs.some(({ claimedUntil }) => claimedUntil !== null && Date.parse(claimedUntil) > latestEnd);
}

/** Counts the running jobs of each installation by its id. Leaves out jobs whose lease expired. */
function countRunningJobs(queue: QueueSnapshot): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of queue.jobs) {
    const { state, installationId } = each;
    if (state !== 'running' || installationId === null || isDue(each, queue)) continue;
    counts.set(installationId, (counts.get(installationId) ?? 0) + 1);
  }
  return counts;
}

/**
 * Creates the methods of `InboxPort` through which workers claim jobs. `readQueue` and `claimJobs` are implemented by
 * each engine.
 */
export function createClaims(
  { commit, now }: Pick<InboxDatabase, 'commit' | 'now'>,
  { readQueue, claimJobs }: Pick<JobQueue, 'readQueue' | 'claimJobs'>,
): Claims {
  /**
   * Tries once to claim due jobs. `parts` says how many jobs to claim at most for each part of the work (`data` or `certificates`). Returns
   * the claimed jobs, and the state of the queue before the claim. `isComplete` is false if a second try may claim more, for example
   * because other workers claimed some of the chosen jobs at the same time.
   */
  async function claimOnce(parts: ClaimRequest['parts'], leaseMs: number) {
    // Reading takes no lock, so a worker that finds no job to claim blocks nobody.
    const queue = await readQueue(EXTRA_CANDIDATES + Math.max(0, ...parts.map(({ slots }) => slots)));
    const listDue = (part: JobPart) => queue.jobs.filter(each => each.part === part && isDue(each, queue));
    const getSlots = (part: JobPart) => (listDue(part).length === 0 ? 0 : countSlots(parts, part));
    const slots = { data: getSlots('data'), certificates: getSlots('certificates') };
    const earlierClaims = { data: queue.highestClaim, certificates: queue.highestClaim + slots.data };
    const runningCounts = countRunningJobs(queue);
    const chooseJobIds = (part: JobPart) =>
      slots[part] === 0
        ? []
        : chooseJobs(listDue(part), runningCounts, earlierClaims[part]).slice(0, slots[part] + SPARE_JOBS);
    const chosen = { data: chooseJobIds('data'), certificates: chooseJobIds('certificates') };
    const wanted = PARTS.reduce((sum, part) => sum + Math.min(slots[part], chosen[part].length), 0);
    const hasExhausted = PARTS.some(
      part => slots[part] > 0 && listDue(part).some(({ attempts }) => attempts >= MAX_ATTEMPTS),
    );
    if (wanted === 0 && !hasExhausted) return { jobs: [], queue, isComplete: true };
    const repairs = [
      hasTooLongLease(queue, leaseMs) ? SHORTEN_LEASES({ now: now(), leaseMs }) : null,
      hasExhausted ? FAIL_EXHAUSTED({ now: now() }) : null,
    ];
    if (repairs.some(repair => repair !== null)) await commit(...repairs);
    const jobs =
      wanted === 0
        ? []
        : await claimJobs(
            PARTS.map(part => ({ slots: slots[part], ids: chosen[part] })),
            leaseMs,
          );
    return { jobs, queue, isComplete: jobs.length > 0 && jobs.length === wanted };
  }

  return {
    /** Runs another round if other workers claimed some of the chosen jobs at the same time. */
    claim: async ({ parts, leaseMs }) => {
      const claimed: ClaimedJobRow[] = [];
      for (let round = 1; ; round += 1) {
        const free = parts.map(({ part, slots }) => ({
          part,
          slots: slots - claimed.filter(each => each.part === part).length,
        }));
        const { jobs, queue, isComplete } = await claimOnce(free, leaseMs);
        claimed.push(...jobs);
        if (isComplete || round === MAX_ROUNDS) return toClaimResult(claimed, queue, parts, leaseMs);
      }
    },
    renew: async (refs, leaseMs) => {
      if (refs.length === 0) return [];
      const renew = RENEW({ refs: toClaimTable(refs), leaseMs, now: now() });
      const [, renewed] = await commit(buildJobLock(refs), renew);
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

function countSlots(parts: ClaimRequest['parts'], part: JobPart): number {
  return parts.find(each => each.part === part)?.slots ?? 0;
}

/**
 * Returns the claimed jobs, and the time until another job may become due. In the result, `moreMayWait` says whether more due jobs may
 * wait. It may be true although no due job is left, because `queue` is the state of the queue before the claim.
 */
function toClaimResult(
  claimed: readonly ClaimedJobRow[],
  queue: QueueSnapshot,
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

/** Converts the database row of a claimed job to a `ClaimedJob`, with its parsed payload. */
function toClaimedJob({ claim, onlyDuplicates, payload, ...row }: ClaimedJobRow): ClaimedJob {
  return {
    ...row,
    claim: claim ?? 0,
    onlyDuplicates: onlyDuplicates === 1,
    payload: parseJobPayload(payload),
  };
}
