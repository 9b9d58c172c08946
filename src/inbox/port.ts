/**
 * The port of the inbox, which stores deliveries and the jobs that read what they announce. SQLite and PostgreSQL implement
 * it and pass the same tests. The receiver gets only `ReceiverPort`, because it must never claim or change jobs.
 */
import type {
  DeliveryQuery,
  DeliveryPage,
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
import type { OrderPort } from './order.js';
import type { ProcessIdentity, InboxStatus } from './process.js';
import type { RejectionCount } from './rejection.js';
import type { TokenStore } from './token.js';

/**
 * The part of an inbox that the receiver may use. Each operation is atomic. Callers pass durations instead of instants,
 * because the clocks of processes may differ: the times in rows come only from the clock of the store.
 */
export interface ReceiverPort {
  /**
   * Stores deliveries in one transaction and returns one result for each. Resolves when the transaction is flushed to disk.
   * Each accepted delivery gets a job that reads its installation and starts after the delivery arrived. If the transaction
   * fails, each delivery is stored in one of its own.
   */
  readonly store: (deliveries: readonly NewDelivery[]) => Promise<readonly StoreResult[]>;
  /** Adds rejected webhooks to the stored counts. */
  readonly countRejected: (counts: readonly RejectionCount[]) => Promise<void>;
  /** Records that a process is alive, and returns the status of the inbox. */
  readonly heartbeat: (self: ProcessIdentity) => Promise<InboxStatus>;
  /** Returns why the inbox cannot be written at present, or null if it can. */
  readonly findWriteObstacle: () => Promise<StoreFailure | null>;
  readonly close: () => Promise<void>;
}

/** All operations of an inbox, for workers and commands. */
export interface InboxPort extends ReceiverPort, OrderPort {
  /**
   * Claims due jobs in fair order, at most one for each slot. Within a part, only one job of an installation or organization
   * runs at a time. A job without attempts left fails instead. If a lease ends later than a new
   * lease would, it is shortened, because the clock of the worker that wrote it was ahead.
   */
  readonly claim: (request: ClaimRequest) => Promise<ClaimResult>;
  /** Extends leases. Returns the ids of jobs that have been claimed by another worker and must be stopped. */
  readonly renew: (claims: readonly ClaimRef[], leaseMs: number) => Promise<readonly number[]>;
  /** Sets the organization of a running job. Returns `busy` if another job already reads the organization. */
  readonly assignOrganization: (claim: ClaimRef, organizationId: string) => Promise<'ours' | 'busy' | 'lost'>;
  /** Ends running jobs. Returns false for each job that another worker has claimed. */
  readonly settle: (settlements: readonly JobSettlement[]) => Promise<readonly boolean[]>;
  /**
   * Requests jobs and returns their ids. A request merges with a waiting job of the same dedupe key, but never with a running
   * job, so that each job starts after all of its requests.
   */
  readonly enqueue: (jobs: readonly NewJob[]) => Promise<readonly number[]>;
  /** Enqueues a job and returns the job id. Returns null if a job with this dedupe key ever existed. */
  readonly enqueueOnce: (job: NewJob) => Promise<number | null>;
  /** Makes failed jobs due at once with new attempts, because a person asked for it. */
  readonly retryFailed: (jobIds: readonly number[] | 'all') => Promise<readonly RetriedJob[]>;
  /**
   * Makes all jobs that failed with one of these codes due at once, ahead of other due jobs and with new attempts. Returns
   * how many. Called when the registry has recovered.
   */
  readonly prioritizeFailed: (codes: readonly string[]) => Promise<number>;
  /** Makes new claim numbers higher than `highestSeen`, because a restored inbox would repeat old ones. */
  readonly raiseClaims: (highestSeen: number) => Promise<void>;
  /** Allocates a claim number for work without a job, higher than `minimum` and all earlier claim numbers. */
  readonly allocateClaim: (minimum: number) => Promise<number>;
  readonly countJobs: () => Promise<JobCounts>;
  /** Calls `onChange` soon after any process has requested a job. Returns a function that stops watching. */
  readonly watch: (onChange: () => void) => () => void;
  /** Finds the newest delivery that a job answers, among the latest `MAX_SEARCHED_DELIVERIES`. */
  readonly findNewestDelivery: (
    job: Pick<ClaimedJob, 'id' | 'installationId' | 'trigger'>,
  ) => Promise<number | null>;
  /** Returns for each query whether a matching delivery was accepted. Ignores future dates. */
  readonly haveDeliveriesArrived: (
    installationId: string,
    queries: readonly DeliveryQuery[],
  ) => Promise<readonly boolean[]>;
  /**
   * Lists one page of the accepted deliveries of a range, oldest first. A row that counts duplicates is listed twice: when
   * its first delivery arrived, and when the first duplicate arrived after a read had begun.
   */
  readonly listAcceptedDeliveries: (range: DeliveryRange) => Promise<DeliveryPage>;
  /** Lists the installations that unfinished jobs will read, with their organizations if known. */
  readonly listPendingInstallations: () => Promise<readonly InstallationRef[]>;
  readonly readStatus: () => Promise<InboxStatus>;
  /** Removes one batch of rows older than the retention. Returns null if none was left. 0 days keep everything. */
  readonly prune: (retentionDays: number) => Promise<PruneResult | null>;
  /** Lists signed texts with an id above `afterId`, in order of ids. Leaves out erased texts. */
  readonly listSignedTexts: (afterId: number, limit: number) => Promise<readonly SignedText[]>;
  /** Erases signed texts but keeps their digests and deliveries. Returns how many deliveries referred to them. */
  readonly eraseSignedTexts: (ids: readonly number[]) => Promise<number>;
  /** The tokens of the HTTP API. */
  readonly tokens: TokenStore;
}
