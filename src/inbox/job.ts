/**
 * Jobs of the inbox: how they are requested, claimed and settled.
 * A job is waiting, running, paused, failed or done. At most one job with a dedupe key waits; a request with the key of a waiting
 * job is merged with it. A running job belongs to the worker that claimed it until its lease expires. The claim number
 * guards every later write of the job, so a worker that lost its lease can never settle a job of another one.
 */
import { isObject } from '../text/checks.js';

export const PARTS = ['data', 'certificates'] as const;
/** The part of an organization's data that a job reads; a claim covers one part. */
export type JobPart = (typeof PARTS)[number];

export const JOB_STATES = ['waiting', 'running', 'paused', 'failed', 'done'] as const;

export const JOB_KINDS = [
  'installation',
  'retry',
  'reservations',
  'certificates',
  'discover',
  'tick',
  'order',
] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** The sources of requests for jobs. */
export const TRIGGERS = ['delivery', 'schedule', 'worker', 'person'] as const;

/**
 * The priorities of jobs; lower numbers are claimed first. While jobs of all priorities wait, `announced` gets three of four
 * claims, and `firstRead` three of four of the rest. So no job starves, and a webhook of a known organization does not wait for
 * the first reads of hundreds of new ones.
 */
export const PRIORITIES = {
  /** A person requested it, a delivery for an installation that was read before, or it concerns no single installation. */
  announced: 1,
  /** The installation was never read, or the worker itself requested it after a read. */
  firstRead: 2,
  /** The schedule requested it, or only duplicate deliveries. */
  scheduled: 3,
} as const;

/** After this many attempts a job fails for good. */
export const MAX_ATTEMPTS = 10;

/** Limits the attempts that count for a paused job, so that a job that was paused for long still has attempts left. */
export const PAUSED_ATTEMPTS = MAX_ATTEMPTS / 2;

/** The failures that an outage causes. `rate_limited` is not one of them, because the registry asked us to wait. */
export const OUTAGE_CODES = ['unavailable', 'timeout', 'bad_answer', 'unauthorized'] as const;

/** Begins the outcome of a job that could read only some of its lists. */
export const PARTIAL_READ_PREFIX = 'read in part';

/**
 * When the registry recovers, a `retry` job that was never attempted and is due within this time becomes due at once. Jobs
 * that are due later were delayed on purpose.
 */
export const RETRY_SOON_MS = 2000;

/** The outcome of a job that found nothing new, if the schedule or only duplicate deliveries requested it. */
export const UNCHANGED_OUTCOME = 'unchanged';

/** A request for a job. */
export interface NewJob {
  readonly kind: string;
  /** At most one job with this key waits. Further requests are merged with that job. */
  readonly dedupeKey: string;
  readonly trigger: string;
  readonly part?: JobPart;
  readonly installationId?: string | null;
  readonly organizationId?: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** Whether only duplicate deliveries request the job. They announce nothing new. */
  readonly onlyDuplicates?: boolean;
  /** The shortest delay before the job starts. If it is absent, the job starts as soon as the pacing allows. */
  readonly startDelayMs?: number;
}

export const INSTALLATION_JOB = 'installation';

/**
 * Creates a job that reads the data of one installation of the app in an organization. `organizationId` is null while the
 * organization is unknown.
 */
export function createInstallationJob(
  installationId: string,
  organizationId: string | null,
  trigger: string,
): NewJob {
  return {
    kind: INSTALLATION_JOB,
    // The inbox merges a new job into a waiting job with the same key.
    dedupeKey: `${INSTALLATION_JOB}:${installationId}`,
    trigger,
    installationId,
    organizationId,
  };
}

/** A job that belongs to this worker until its lease expires. Its id and claim number guard every later step. */
export interface ClaimedJob {
  readonly id: number;
  readonly claim: number;
  readonly kind: string;
  readonly organizationId: string | null;
  readonly installationId: string | null;
  readonly part: JobPart;
  readonly dedupeKey: string;
  readonly trigger: string;
  /** Whether only duplicate deliveries requested the job. */
  readonly onlyDuplicates: boolean;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  readonly runAt: string;
  readonly createdAt: string;
}

/** Parses the JSON payload of a job. JSON that is not an object becomes an empty object. */
export function parseJobPayload(text: string): ClaimedJob['payload'] {
  const payload: unknown = JSON.parse(text);
  return isObject(payload) ? payload : {};
}

/** The reference to one claim: the id of the job and the claim number. */
export type ClaimRef = Pick<ClaimedJob, 'id' | 'claim'>;

/** The error of a failed attempt. */
export interface JobError {
  readonly code: string;
  readonly message: string;
}

/** A worker's request to claim due jobs. */
export interface ClaimRequest {
  /** How many jobs of each part the worker can start now. With 0 slots the worker only asks whether jobs wait. */
  readonly parts: readonly { readonly part: JobPart; readonly slots: number }[];
  readonly leaseMs: number;
}

/** The claimed jobs, and when to claim again. */
export interface ClaimResult {
  readonly jobs: readonly ClaimedJob[];
  /** False if certainly no other due job of these parts is left. */
  readonly moreMayWait: boolean;
  /** How long until a job becomes due or a lease expires; null if neither will happen. */
  readonly nextChangeInMs: number | null;
}

/** The end of a running job, and what happens to the job next. */
export type JobEnd =
  /** The outcome is text for people, such as `read`; after a partial read it also says what failed. */
  | { readonly act: 'done'; readonly outcome: string }
  /** Done, and found nothing new for the schedule. Removes earlier jobs with the same key that ended like this. */
  | { readonly act: 'unchanged' }
  /** Run again after a delay. The tenth failure fails the job. */
  | { readonly act: 'retry'; readonly delayMs: number; readonly error: JobError }
  /** Wait until the same job is requested again or the delay is over. Pausing never fails the job. */
  | { readonly act: 'pause'; readonly delayMs: number; readonly error: JobError }
  | { readonly act: 'fail'; readonly error: JobError }
  /** Undo the claim: the attempt does not count. The error says why; null if the program only interrupted the job. */
  | { readonly act: 'release'; readonly delayMs: number; readonly error: JobError | null };

/** The end of one claimed job. */
export interface JobSettlement {
  readonly claim: ClaimRef;
  readonly end: JobEnd;
}

/** The result of retrying one failed job. */
export interface RetriedJob {
  /** The id of the failed job. */
  readonly failed: number;
  /** The id of the job that will run: the failed one, or a waiting job with the same key; null if the job had not failed. */
  readonly job: number | null;
}

/** An installation and the organization it belongs to. */
export interface InstallationRef {
  readonly id: string;
  /** Null while the installation is known only from a delivery and was never read. */
  readonly organizationId: string | null;
}

/** The number of jobs in each state. Done jobs are not counted, because there may be millions. */
export interface JobCounts {
  readonly waiting: number;
  readonly running: number;
  readonly paused: number;
  readonly failed: number;
  /** The earliest run time of the waiting jobs, which may be past; null if none waits. */
  readonly oldestRunAt: string | null;
}

/** The number of rows that one batch of pruning removed. */
export interface PruneResult {
  readonly deliveries: number;
  readonly signedTexts: number;
  readonly jobs: number;
}

/**
 * Returns the lowest id of the jobs whose webhook deliveries this job covers: no other read is needed for them after a read of this job.
 * The highest such id is the id of this job. Returns 0 if all earlier jobs of its installation are covered, and null if the job counts as
 * covering no deliveries, for example because the schedule requested it.
 */
export function findLowestAnsweredJobId({ id, trigger }: Pick<ClaimedJob, 'id' | 'trigger'>): number | null {
  // A job for a delivery also covers the deliveries of all earlier jobs of its installation.
  if (trigger === 'delivery') return 0;
  // A job that a person requested covers only the deliveries that were merged into it.
  return trigger === 'person' ? id : null;
}
