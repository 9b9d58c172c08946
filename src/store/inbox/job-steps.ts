import type { JobPart } from '../../inbox/job.js';
import type { Tables } from '../contract/tables.js';

type Job = Tables['inbox.jobs'];

/** A job that a claim may choose or must take into account. */
export interface QueuedJob {
  readonly id: number;
  readonly part: JobPart;
  readonly state: Job['state'];
  readonly priority: number;
  readonly attempts: number;
  readonly installationId: string | null;
  readonly organizationId: string | null;
  readonly runAt: string;
  readonly createdAt: string;
  readonly claimedUntil: string | null;
  /** When a job of this installation and part last started; null if none ever did. */
  readonly lastStartedAt: string | null;
}

/** The state of the queue when a claim began. */
export interface QueueSnapshot {
  readonly now: string;
  /** The highest claim number so far. */
  readonly highestClaim: number;
  /** The running jobs, the oldest due jobs that no running job excludes, and the jobs that become due next. */
  readonly jobs: readonly QueuedJob[];
}

/** The database row of a job that was just claimed. */
export interface ClaimedJobRow {
  readonly id: number;
  readonly claim: number | null;
  readonly kind: string;
  readonly organizationId: string | null;
  readonly installationId: string | null;
  readonly part: JobPart;
  readonly dedupeKey: string;
  readonly trigger: string;
  readonly onlyDuplicates: number;
  readonly payload: string;
  readonly attempts: number;
  readonly runAt: string;
  readonly createdAt: string;
}

/** The jobs of one part that are to be claimed. */
export interface ChosenJobs {
  /** The maximum number of jobs to claim. As many claim numbers are reserved. */
  readonly slots: number;
  /** The ids of the jobs, in the order in which they are claimed. */
  readonly ids: readonly number[];
}

/** A running job that is done. */
export interface FinishedJob {
  readonly id: number;
  readonly claim: number;
  readonly outcome: string;
  /** Whether earlier scheduled jobs with the same key and outcome are removed. */
  readonly replacesEarlier: boolean;
}

/** The queue of jobs in the database. Each engine implements its operations in its own way, with the same results. */
export interface JobQueue {
  /** Reads at most `limit` due jobs of each priority and part. */
  readonly readQueue: (limit: number) => Promise<QueueSnapshot>;
  /**
   * Reserves claim numbers for all slots, and claims chosen jobs of each part. Skips jobs that are no longer due, jobs that a
   * running job excludes by now, and jobs that another transaction has locked.
   */
  readonly claimJobs: (parts: readonly ChosenJobs[], leaseMs: number) => Promise<readonly ClaimedJobRow[]>;
  /** Ends jobs that are done, and returns the claims that were still valid. Absent if the engine has no faster way. */
  readonly finishJobs?: (jobs: readonly FinishedJob[]) => Promise<readonly number[]>;
}
