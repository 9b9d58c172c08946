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

/** What may ask for a job, and so for its syncs. */
export const TRIGGERS = ['delivery', 'schedule', 'worker', 'person'] as const;

/** A job that fails or crashes this often has failed for good. */
export const MAX_ATTEMPTS = 10;

/** Of those that a paused job may have made no more are counted: it may go on for ever, and then fail some times still. */
export const PAUSED_ATTEMPTS = MAX_ATTEMPTS / 2;

/** How the outcome of a job begins that could not read all that it was to read. */
export const PARTIAL_READ = 'read in part';

/** What is read again for the first time waits no longer, unless a second read is to come later on purpose. */
export const RETRY_SOON_MS = 2000;

/** How an installation's job ends that only duplicates asked for, and that found nothing new. */
export const UNCHANGED_OUTCOME = 'unchanged';

export interface NewJob {
  readonly kind: string;
  /** At most one job with this key waits. */
  readonly dedupeKey: string;
  readonly trigger: string;
  readonly part?: Part;
  readonly installationId?: string | null;
  readonly organizationId?: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** Nothing asks for it but deliveries that had come before: it says nothing new. */
  readonly onlyDuplicates?: boolean;
  /** Not to be started sooner than so long after now; without it as soon as the pace allows. */
  readonly startDelayMs?: number;
}

export const INSTALLATION_JOB = 'installation';

/** What every delivery asks for, and the schedule too: look at this installation again. */
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

/** A job that is ours until the lease runs out; its id and claim number guard every later step. */
export interface ClaimedJob {
  readonly id: number;
  readonly claim: number;
  readonly kind: string;
  readonly organizationId: string | null;
  readonly installationId: string | null;
  readonly part: Part;
  readonly dedupeKey: string;
  readonly trigger: string;
  /** Nothing asked for it but deliveries that had come before. */
  readonly onlyDuplicates: boolean;
  readonly payload: Readonly<Record<string, unknown>>;
  /** This claim included. */
  readonly attempts: number;
  readonly runAt: string;
  readonly createdAt: string;
}

/** As the row of a job holds it. */
export function parsePayload(text: string): ClaimedJob['payload'] {
  const payload: unknown = JSON.parse(text);
  return isObject(payload) ? payload : {};
}

export type ClaimRef = Pick<ClaimedJob, 'id' | 'claim'>;

export interface JobError {
  readonly code: string;
  readonly message: string;
}

export interface ClaimRequest {
  /** How many jobs of each part the caller can start at once; none where it only wants to know whether any wait. */
  readonly parts: readonly { readonly part: Part; readonly slots: number }[];
  readonly leaseMs: number;
}

export interface ClaimResult {
  readonly jobs: readonly ClaimedJob[];
  /** Whether more of these parts may wait for a slot; false only where nothing does. */
  readonly moreMayWait: boolean;
  /** How long until a job becomes due or a lease runs out; null when there is none. */
  readonly nextChangeInMs: number | null;
}

export type JobEnd =
  /** `outcome` is for people to read: a word such as `read`, and where it was in part what failed. */
  | { readonly act: 'done'; readonly outcome: string }
  /** Try again so much later. By the tenth failure the job has failed. */
  | { readonly act: 'retry'; readonly delayMs: number; readonly error: JobError }
  /** Wait until a delivery, the schedule or a person asks for the same again, or so long. It never fails for that. */
  | { readonly act: 'pause'; readonly delayMs: number; readonly error: JobError }
  | { readonly act: 'fail'; readonly error: JobError }
  /** Undo the claim: nothing failed, and the attempt does not count. */
  | { readonly act: 'release'; readonly delayMs: number };

export interface JobSettlement {
  readonly claim: ClaimRef;
  readonly end: JobEnd;
}

/** A failed job, and the one that will run (one that waits may take over); null where it had not failed. */
export interface RetriedJob {
  readonly failed: number;
  readonly job: number | null;
}

/** An installation that was announced or found. */
export interface InstallationRef {
  readonly id: string;
  /** Null where a delivery has told of it, and nobody has looked yet. */
  readonly organizationId: string | null;
}

/** Done jobs are not counted: there may be millions. */
export interface JobCounts {
  readonly waiting: number;
  readonly running: number;
  readonly paused: number;
  readonly failed: number;
  /** When the oldest waiting job may start or might have started; null when none waits. */
  readonly oldestRunAt: string | null;
}

export interface PruneResult {
  readonly deliveries: number;
  readonly signedTexts: number;
  readonly jobs: number;
}

/**
 * The lowest id of a job whose deliveries this one answers; null where it answers none. Who else asked for a job hides
 * a delivery, but for a person, who hides one that had come too.
 */
export function firstAnsweredJobId({ id, trigger }: Pick<ClaimedJob, 'id' | 'trigger'>): number | null {
  if (trigger === 'delivery') return 0;
  return trigger === 'person' ? id : null;
}
