export const LANES = ['data', 'certificates'] as const;
export type Lane = (typeof LANES)[number];

export const JOB_STATES = ['ready', 'claimed', 'parked', 'buried', 'done'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job that fails or crashes this often is buried. */
export const MAX_ATTEMPTS = 10;

/** Of those that a parked job may have made no more are counted: it may go on for ever, and then fail some times still. */
export const PARKED_ATTEMPTS = MAX_ATTEMPTS / 2;

/** How an installation's job ends that only repeats asked for, and that found nothing new. */
export const UNCHANGED = 'unchanged';

export interface NewJob {
  readonly kind: string;
  /** At most one job with this key waits. */
  readonly dedupeKey: string;
  readonly trigger: string;
  readonly lane?: Lane;
  readonly installationId?: string | null;
  readonly organizationId?: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** Nothing asks for it but deliveries that had come before: it says nothing new. */
  readonly repeatsOnly?: boolean;
  /** Not to be started before this instant (epoch ms); without it as soon as the pace allows. */
  readonly runAt?: number;
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
  readonly lane: Lane;
  readonly dedupeKey: string;
  readonly trigger: string;
  /** Nothing asked for it but deliveries that had come before. */
  readonly repeatsOnly: boolean;
  readonly payload: Readonly<Record<string, unknown>>;
  /** This claim included. */
  readonly attempts: number;
  readonly runAt: string;
  readonly createdAt: string;
}

export type Held = Pick<ClaimedJob, 'id' | 'claim'>;

export interface JobError {
  readonly code: string;
  readonly message: string;
}
