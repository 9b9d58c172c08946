import type {
  AcceptedDelivery,
  DeliveryQuery,
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
import type { RejectionCount } from './rejected.js';

/**
 * All that the receiver may do with an inbox. Each operation is one step that is done as a whole or not at all. Durations are
 * given and instants are answered: they are the store's, by one clock, whichever process asks.
 */
export interface ReceiverPort {
  /**
   * A group in one transaction, which is flushed to disk before it answers; one result for each. For each accepted one a
   * job of its installation will start after it arrived. Where the group cannot be stored each is tried alone.
   */
  readonly store: (deliveries: readonly NewDelivery[]) => Promise<readonly StoreResult[]>;
  /** Add to the counts of what was turned away. */
  readonly countRejected: (rejected: readonly RejectionCount[]) => Promise<void>;
  /** Say that a process lives, and answer who else does. */
  readonly heartbeat: (self: LivingProcess) => Promise<InboxPulse>;
  /** Why nothing can be written at present; null where it can. */
  readonly findWriteObstacle: () => Promise<StoreFailure | null>;
  readonly close: () => Promise<void>;
}

/** What is done with the jobs and deliveries of an inbox. */
export interface InboxPort extends ReceiverPort {
  /**
   * Take due jobs, in each part as many as there are slots; at most one of each installation and of each organization
   * in a part, in fair order, and none of which a claim holds. Those that were tried too often fail. A lease that
   * ends later than one that begins now was given by a clock that was ahead: it is cut to that length.
   */
  readonly claim: (request: ClaimRequest) => Promise<ClaimResult>;
  /** Answers the ids of those that are no longer ours: stop them, and write nothing more for them. */
  readonly renew: (held: readonly ClaimRef[], leaseMs: number) => Promise<readonly number[]>;
  /** Note whose data the job reads, once that is known, unless that organization is being read in this part already. */
  readonly assignOrganization: (held: ClaimRef, organizationId: string) => Promise<'ours' | 'busy' | 'lost'>;
  /** How running jobs end. False, and nothing is changed, where the claim is no longer ours. */
  readonly settle: (ended: readonly JobSettlement[]) => Promise<readonly boolean[]>;
  /** Make sure that for each a job with its key starts after now; answers their ids. */
  readonly enqueue: (jobs: readonly NewJob[]) => Promise<readonly number[]>;
  /** The same, unless a job with this key was ever asked for: two workers never double what the schedule wants. */
  readonly enqueueOnce: (job: NewJob) => Promise<number | null>;
  /** What people want to be tried again. */
  readonly retryFailed: (which: readonly number[] | 'all') => Promise<readonly RetriedJob[]>;
  /**
   * The registry answers again: what failed for one of these reasons is due since it was first asked for, with new patience,
   * and is claimed before what is merely due, failed ones too. Answers how many those are.
   */
  readonly prioritizeFailed: (codes: readonly string[]) => Promise<number>;
  /** After an inbox was restored: start above the highest number that the mirror has seen. */
  readonly raiseClaims: (above: number) => Promise<void>;
  /** A number for work outside the queue, above every other one and never given out again. */
  readonly allocateClaim: (above: number) => Promise<number>;
  readonly countJobs: () => Promise<JobCounts>;
  /** Calls back soon after there may be something to do, whoever asked for it. Answers how to stop. */
  readonly watch: (changed: () => void) => () => void;
  /** The newest delivery that a job answers; null where none asked for it, or none of the latest thousands. */
  readonly findNewestDelivery: (
    job: Pick<ClaimedJob, 'id' | 'installationId' | 'trigger'>,
  ) => Promise<number | null>;
  /** For each question whether such an accepted delivery for the installation came; none of the future. */
  readonly haveDeliveriesArrived: (
    installationId: string,
    questions: readonly DeliveryQuery[],
  ) => Promise<readonly boolean[]>;
  /**
   * One slice of the accepted deliveries of a stretch, oldest first, and where the next begins. Of duplicates that share a row:
   * the first, and the first that came after a read had begun.
   */
  readonly listAcceptedDeliveries: (
    stretch: DeliveryRange,
  ) => Promise<{ readonly deliveries: readonly AcceptedDelivery[]; readonly next: DeliveryRange | null }>;
  /** The installations that a job which has not ended is to look at, and whose they are where that is known. */
  readonly listPendingInstallations: () => Promise<readonly InstallationRef[]>;
  readonly readPulse: () => Promise<InboxPulse>;
  /** Remove one batch of what is older than the retention; null when nothing was left to remove. 0 days keep everything. */
  readonly prune: (retentionDays: number) => Promise<PruneResult | null>;
  /** Those with an id above, in its order, but for those that were emptied. */
  readonly listSignedTexts: (above: number, limit: number) => Promise<readonly SignedText[]>;
  /** Their digests stay, and their deliveries: answers how many those are. */
  readonly eraseSignedTexts: (ids: readonly number[]) => Promise<number>;
}
