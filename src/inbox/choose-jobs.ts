import { MAX_ATTEMPTS, PRIORITIES } from './job.js';

/** A due job that no running job excludes, or a running job whose lease expired. */
export interface ClaimCandidate {
  readonly id: number;
  readonly state: string;
  readonly priority: number;
  readonly attempts: number;
  readonly installationId: string | null;
  readonly organizationId: string | null;
  readonly runAt: string;
  readonly createdAt: string;
  /** When a job of this installation and part last started; null if none ever did. */
  readonly lastStartedAt: string | null;
}

/** Every fourth claim prefers a job of the lower priority, so that such jobs do not starve. */
const LOW_PRIORITY_INTERVAL = 4;
/** The lane of jobs that are claimed before all others. */
const FIRST_LANE = 0;

/**
 * Returns the ids of due jobs in the order in which workers claim them. Returns at most one job of an installation and at most
 * one of an organization. Every fourth claim prefers a job of low priority; `earlierClaims` is the number of claims so far.
 */
export function chooseJobs(
  candidates: readonly ClaimCandidate[],
  runningByInstallation: ReadonlyMap<string, number>,
  earlierClaims: number,
): number[] {
  const claimable = candidates.filter(({ attempts }) => attempts < MAX_ATTEMPTS);
  const ranked = dropConflictingJobs(claimable).map(candidate => ({
    ...candidate,
    lane: getLane(candidate),
    running: runningByInstallation.get(candidate.installationId ?? '') ?? 0,
  }));
  const inLane = (lane: number) => ranked.filter(each => each.lane === lane).toSorted(compareFairly);
  const lowerPriority = interleave(
    inLane(PRIORITIES.firstRead),
    inLane(PRIORITIES.scheduled),
    Math.floor(earlierClaims / LOW_PRIORITY_INTERVAL),
  );
  const byPriority = interleave(inLane(PRIORITIES.announced), lowerPriority, earlierClaims);
  // A job whose lease expired comes first, so that no other job of its installation runs beside it.
  return [...inLane(FIRST_LANE), ...byPriority].map(({ id }) => id);
}

interface RankedCandidate extends ClaimCandidate {
  /** How many jobs of the installation run, in any part. */
  readonly running: number;
}

/**
 * Returns the lane of a job. Jobs in a lower lane are claimed first. The lane is `FIRST_LANE` (0) if the lease of the job expired or the
 * job failed during an outage. Otherwise the lane is the priority of the job, or `PRIORITIES.scheduled` if the job is paused.
 */
function getLane({ state, priority, attempts, runAt, createdAt }: ClaimCandidate): number {
  // See `prioritizeFailed`.
  const failedDuringOutage = attempts > 0 && runAt <= createdAt;
  if (state === 'running' || failedDuringOutage) return FIRST_LANE;
  return state === 'paused' ? PRIORITIES.scheduled : priority;
}

/**
 * Keeps at most one job for each installation and for each organization: the one to claim first. Two jobs of the same installation or
 * organization must not run at the same time.
 */
function dropConflictingJobs(candidates: readonly ClaimCandidate[]): ClaimCandidate[] {
  const sorted = candidates.toSorted(
    (left, right) =>
      getLane(left) - getLane(right) ||
      compareTexts(left.state, right.state) ||
      compareTexts(left.runAt, right.runAt) ||
      left.id - right.id,
  );
  const [installations, organizations] = [new Set<string>(), new Set<string>()];
  return sorted.filter(({ installationId, organizationId }) => {
    const isFirstOfInstallation = installationId === null || !installations.has(installationId);
    const isFirstOfOrganization = organizationId === null || !organizations.has(organizationId);
    if (installationId !== null) installations.add(installationId);
    if (organizationId !== null) organizations.add(organizationId);
    return isFirstOfInstallation && isFirstOfOrganization;
  });
}

/**
 * Compares two jobs for sorting. First comes the job whose installation runs the fewest jobs, then the job whose installation has not
 * started a job for the longest time, then the job that has waited longest.
 */
function compareFairly(left: RankedCandidate, right: RankedCandidate): number {
  return (
    left.running - right.running ||
    compareTexts(left.lastStartedAt ?? '', right.lastStartedAt ?? '') ||
    compareTexts(left.runAt, right.runAt) ||
    left.id - right.id
  );
}

/** Compares texts for sorting, independent of the locale. */
function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * Interleaves two queues: every fourth turn takes from the second queue. `earlierTurns` is the number of turns in earlier
 * calls.
 */
function interleave<T>(first: readonly T[], second: readonly T[], earlierTurns: number): T[] {
  const [fromFirst, fromSecond] = [first.values(), second.values()];
  const all: T[] = [];
  for (let turn = earlierTurns + 1; all.length < first.length + second.length; turn += 1) {
    const next = (turn % LOW_PRIORITY_INTERVAL === 0 ? fromSecond : fromFirst).next();
    if (next.done !== true) all.push(next.value);
  }
  return all;
}
