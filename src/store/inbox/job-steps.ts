import type { Part } from '../../inbox/job.js';
import type { Tables } from '../contract/tables.js';

type Job = Tables['inbox.jobs'];

/** A job that matters to a claim. */
export interface QueuedJob {
  readonly id: number;
  readonly part: Part;
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

/** The jobs that matter to a claim, at one instant. */
export interface Queue {
  readonly now: string;
  /** The highest claim number. */
  readonly last: number;
  /** The running jobs, the oldest due jobs that no running job excludes, and the next jobs that become due. */
  readonly jobs: readonly QueuedJob[];
}

/** A job that was just claimed, as it is stored. */
export interface TakenJob {
  readonly id: number;
  readonly claim: number | null;
  readonly kind: string;
  readonly organizationId: string | null;
  readonly installationId: string | null;
  readonly part: Part;
  readonly dedupeKey: string;
  readonly trigger: string;
  readonly onlyDuplicates: number;
  readonly payload: string;
  readonly attempts: number;
  readonly runAt: string;
  readonly createdAt: string;
}

/** The jobs of one part that a claim chose. */
export interface ChosenJobs {
  /** How many claim numbers are reserved for the part, and how many jobs are claimed at most. */
  readonly slots: number;
  /** In the order in which they are claimed. */
  readonly ids: readonly number[];
}

/** A running job that is done. */
export interface FinishedJob {
  readonly id: number;
  readonly claim: number;
  readonly outcome: string;
  /** Whether earlier jobs with the same key and outcome are removed, if the schedule requested them. */
  readonly replacesEarlier: boolean;
}

/** The frequent steps of the inbox. Each engine does them in its own way, with the same results. */
export interface JobSteps {
  /** Reads at most `limit` due jobs of each priority and part. */
  readonly readQueue: (limit: number) => Promise<Queue>;
  /**
   * Reserves claim numbers for all slots, and claims the first chosen jobs of each part that are still due and that no job
   * excludes by now. Skips jobs that another transaction has locked.
   */
  readonly takeJobs: (parts: readonly ChosenJobs[], leaseMs: number) => Promise<readonly TakenJob[]>;
  /** Records that jobs are done. Returns the claims of those that still ran. Null if the engine has no faster way. */
  readonly finishJobs: ((jobs: readonly FinishedJob[]) => Promise<readonly number[]>) | null;
}
