/**
 * Jobs of the inbox: how they are requested, claimed and settled.
 * A job is waiting, running, paused, failed or done. At most one job with a dedupe key waits; a request with the key of a waiting
 * job is merged with it. A running job belongs to the worker that claimed it until its lease expires. The claim number
 * guards every later write of the job, so a worker that lost its lease can never settle a job of another one.
 */
import { isObject } from '../registry/model.js';

export const PARTS = ['data', 'certificates'] as const;
export type Part = (typeof PARTS)[number];

export const JOB_STATES = ['waiting', 'running', 'paused', 'failed', 'done'] as const;

export const JOB_KINDS = [
  'installation',
  'retry',
  'reservations',
  'certificates',
  'discover',
  'tick',
] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** What can request a job, and so its syncs. */
export const TRIGGERS = ['delivery', 'schedule', 'worker', 'person'] as const;

/** After this many attempts a job fails for good. */
export const MAX_ATTEMPTS = 10;

/** At most this many attempts of a paused job count: it may be paused forever and still have attempts left afterwards. */
export const PAUSED_ATTEMPTS = MAX_ATTEMPTS / 2;

/** The beginning of the outcome of a job that could read only some of its lists. */
export const PARTIAL_READ = 'read in part';

/** When the registry recovers, a first `retry` job that is due within this delay becomes due at once. Later ones were delayed on purpose. */
export const RETRY_SOON_MS = 2000;

/** The outcome of an installation job that only duplicates requested and that found nothing new. */
export const UNCHANGED_OUTCOME = 'unchanged';

/** A request for a job. */
export interface NewJob {
  readonly kind: string;
  /** At most one job with this key waits; further requests are merged with it. */
  readonly dedupeKey: string;
  readonly trigger: string;
  readonly part?: Part;
  readonly installationId?: string | null;
  readonly organizationId?: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** Whether only duplicate deliveries request the job, which carry no news. */
  readonly onlyDuplicates?: boolean;
  /** The least delay before the job starts; without it, the job starts as soon as the pace allows. */
  readonly startDelayMs?: number;
}

export const INSTALLATION_JOB = 'installation';

/** Creates the request to read an installation again. Deliveries, the schedule and people all make the same one. */
export function installationJob(
  installationId: string,
  organizationId: string | null,
  trigger: string,
): NewJob {
  return {
    kind: INSTALLATION_JOB,
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
  readonly part: Part;
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

/** Parses the payload column of a job; anything but a JSON object becomes an empty object. */
export function parseJobPayload(text: string): ClaimedJob['payload'] {
  const payload: unknown = JSON.parse(text);
  return isObject(payload) ? payload : {};
}

/** Identifies one claim of a job. */
export type ClaimRef = Pick<ClaimedJob, 'id' | 'claim'>;

export interface JobError {
  readonly code: string;
  readonly message: string;
}

export interface ClaimRequest {
  /** How many jobs of each part the caller can start now; 0 slots only check whether any wait. */
  readonly parts: readonly { readonly part: Part; readonly slots: number }[];
  readonly leaseMs: number;
}

export interface ClaimResult {
  readonly jobs: readonly ClaimedJob[];
  /** Whether more jobs of these parts may wait for a slot; false means that certainly none do. */
  readonly moreMayWait: boolean;
  /** How long until a job becomes due or a lease expires; null if neither will happen. */
  readonly nextChangeInMs: number | null;
}

/** How a running job ends. */
export type JobEnd =
  /** The outcome is text for people, such as `read`; after a partial read it also says what failed. */
  | { readonly act: 'done'; readonly outcome: string }
  /** Run again after a delay. The tenth failure fails the job. */
  | { readonly act: 'retry'; readonly delayMs: number; readonly error: JobError }
  /** Wait until the same job is requested again or the delay is over. Pausing never fails the job. */
  | { readonly act: 'pause'; readonly delayMs: number; readonly error: JobError }
  | { readonly act: 'fail'; readonly error: JobError }
  /** Undo the claim. Nothing failed, and the attempt does not count. */
  | { readonly act: 'release'; readonly delayMs: number };

/** A claimed job and how it ended. */
export interface JobSettlement {
  readonly claim: ClaimRef;
  readonly end: JobEnd;
}

/** The result of retrying a failed job, as job ids. */
export interface RetriedJob {
  readonly failed: number;
  /** The job that will run: the failed one, or a waiting job with the same key; null if the job had not failed. */
  readonly job: number | null;
}

/** An installation and the organization it belongs to. */
export interface InstallationRef {
  readonly id: string;
  /** Null while the installation is known only from a delivery and was never read. */
  readonly organizationId: string | null;
}

/** How many jobs are in each state. Done jobs are not counted, because there may be millions. */
export interface JobCounts {
  readonly waiting: number;
  readonly running: number;
  readonly paused: number;
  readonly failed: number;
  /** The earliest run time of the waiting jobs, which may be past; null if none waits. */
  readonly oldestRunAt: string | null;
}

/** How many rows one batch of pruning removed. */
export interface PruneResult {
  readonly deliveries: number;
  readonly signedTexts: number;
  readonly jobs: number;
}

/**
 * Returns the lowest id of the jobs whose deliveries this job answers, or null if it answers none. A job that a delivery
 * requested also answers the deliveries of earlier jobs of its installation. A job that a person requested answers only its own,
 * because that request replaces the trigger of a delivery that had come too. Jobs of the schedule and of workers answer none.
 */
export function findFirstAnsweredJobId({ id, trigger }: Pick<ClaimedJob, 'id' | 'trigger'>): number | null {
  if (trigger === 'delivery') return 0;
  return trigger === 'person' ? id : null;
}
