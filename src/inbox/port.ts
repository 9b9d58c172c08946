/**
 * The contract of the inbox: deliveries that arrived and jobs that read what they announce. Both databases implement it and pass
 * the same tests. The receiver sees `ReceiverPort` only; it must never claim or change jobs.
 */
import type {
  DeliveryQuery,
  DeliverySlice,
  NewDelivery,
  SignedText,
  StoreFailure,
  StoreResult,
  DeliveryRange,
} from './delivery.js';
import type {
  ClaimResult,
  ClaimedJob,
  ClaimRequest,
  JobSettlement,
  ClaimRef,
  JobCounts,
  InstallationRef,
  NewJob,
  PruneResult,
  RetriedJob,
} from './job.js';
import type { LivingProcess, InboxPulse } from './process.js';
import type { RejectionCount } from './rejection.js';

/**
 * The part of an inbox that the receiver may use. Each operation is atomic. Callers pass durations and get instants back: the
 * store's one clock dates everything, whichever process calls.
 */
export interface ReceiverPort {
  /**
   * Stores a batch of deliveries in one transaction that is flushed to disk before this resolves, and returns one result for
   * each. For each accepted delivery a job of its installation will start after it arrived. If the batch cannot be stored,
   * each delivery is tried alone.
   */
  readonly store: (deliveries: readonly NewDelivery[]) => Promise<readonly StoreResult[]>;
  /** Adds to the counts of rejected webhooks. */
  readonly countRejected: (counts: readonly RejectionCount[]) => Promise<void>;
  /** Records that a process is alive, and returns which others are. */
  readonly heartbeat: (self: LivingProcess) => Promise<InboxPulse>;
  /** Returns why the inbox cannot be written at present, or null if it can. */
  readonly findWriteObstacle: () => Promise<StoreFailure | null>;
  readonly close: () => Promise<void>;
}

/** Everything that workers and commands do with the jobs and deliveries of an inbox. */
export interface InboxPort extends ReceiverPort {
  /**
   * Claims due jobs in fair order, at most one for each slot. In each part at most one job of an installation and one of an
   * organization runs at a time. Jobs without attempts left fail instead. A lease that ends later than a lease that
   * begins now was set by a fast clock and is shortened.
   */
  readonly claim: (request: ClaimRequest) => Promise<ClaimResult>;
  /** Extends leases. Returns the ids of jobs that another worker has claimed: stop them, and write nothing more for them. */
  readonly renew: (claims: readonly ClaimRef[], leaseMs: number) => Promise<readonly number[]>;
  /** Sets the organization of a running job once it is known; answers `busy` if a job in the same part already reads it. */
  readonly assignOrganization: (claim: ClaimRef, organizationId: string) => Promise<'ours' | 'busy' | 'lost'>;
  /** Records how running jobs ended. Returns false for each job that another worker has claimed, and leaves it unchanged. */
  readonly settle: (settlements: readonly JobSettlement[]) => Promise<readonly boolean[]>;
  /** Ensures that for each request a job with its key starts after now; returns their ids. */
  readonly enqueue: (jobs: readonly NewJob[]) => Promise<readonly number[]>;
  /** Enqueues a job unless one with this key ever existed, so that two schedulers never double it; then returns null. */
  readonly enqueueOnce: (job: NewJob) => Promise<number | null>;
  /** Retries failed jobs at the request of a person. */
  readonly retryFailed: (jobIds: readonly number[] | 'all') => Promise<readonly RetriedJob[]>;
  /**
   * After the registry recovered: makes jobs that failed with one of these codes due at once, with new attempts, ahead of
   * other due jobs and including those that had failed for good. Returns how many.
   */
  readonly prioritizeFailed: (codes: readonly string[]) => Promise<number>;
  /** After an inbox was restored: makes claim numbers start above the highest one that the mirror has seen. */
  readonly raiseClaims: (highestSeen: number) => Promise<void>;
  /** Allocates a claim number for work outside the queue, above `minimum` and all others; it is never given out again. */
  readonly allocateClaim: (minimum: number) => Promise<number>;
  readonly countJobs: () => Promise<JobCounts>;
  /** Calls back soon after there may be new work, whichever process requested it. Returns a function that stops this. */
  readonly watch: (onChange: () => void) => () => void;
  /** Finds the newest delivery that a job answers; null if no delivery requested it, or none of the latest thousands. */
  readonly findNewestDelivery: (
    job: Pick<ClaimedJob, 'id' | 'installationId' | 'trigger'>,
  ) => Promise<number | null>;
  /** Returns for each query whether a matching accepted delivery for the installation arrived; ignores deliveries in the future. */
  readonly haveDeliveriesArrived: (
    installationId: string,
    queries: readonly DeliveryQuery[],
  ) => Promise<readonly boolean[]>;
  /**
   * Lists one slice of the accepted deliveries of a range, oldest first. A row of duplicates counts as its first delivery,
   * and as the first one that arrived after a read had begun.
   */
  readonly listAcceptedDeliveries: (range: DeliveryRange) => Promise<DeliverySlice>;
  /** Lists the installations that unfinished jobs are to read, with their organizations if known. */
  readonly listPendingInstallations: () => Promise<readonly InstallationRef[]>;
  readonly readPulse: () => Promise<InboxPulse>;
  /** Removes one batch of rows older than the retention; returns null if none was left. 0 days keep everything. */
  readonly prune: (retentionDays: number) => Promise<PruneResult | null>;
  /** Lists signed texts with an id above `afterId`, in order of ids, without those that were erased. */
  readonly listSignedTexts: (afterId: number, limit: number) => Promise<readonly SignedText[]>;
  /** Erases signed texts but keeps their digests and deliveries; returns how many deliveries referred to them. */
  readonly eraseSignedTexts: (ids: readonly number[]) => Promise<number>;
}
