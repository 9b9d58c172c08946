import type { ReadFault, ReadTraffic } from './read.js';
import type { SyncState } from '../../store/contract/states.js';
import type { Resource } from '../../resources/lists.js';

/** The claim under which a job writes one part of one organization. Every write carries it. */
export interface WriteClaim {
  readonly organizationId: string;
  readonly part: string;
  readonly claim: number;
}

/** The job that runs a sync, and the newest delivery that the job answers. */
export interface SyncCause {
  readonly jobId: number;
  readonly newestDeliveryId: number | null;
}

/** A sync to begin: which resource of which organization it reads, under which claim. */
export interface SyncRequest {
  readonly organizationId: string;
  readonly resource: Resource;
  readonly claim: number;
  /** When the read began, in epoch milliseconds; taken before the first call to the registry. */
  readonly startedAt: number;
  readonly trigger: string;
  /** Whether to compare every page and check the columns of every row, instead of skipping what earlier reads have seen. */
  readonly full?: boolean;
  /** Absent if no job runs the sync. */
  readonly cause?: SyncCause;
}

/**
 * Returns whether a delivery has arrived since an instant, which is the start of the last complete read. If none has, the
 * changes that a scheduled sync finds are drift.
 */
export type HasNewDelivery = (since: number) => Promise<boolean>;

/** How many rows were added, changed, removed and found unchanged. */
export interface ChangeCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

/** How a sync ended; written by its last commit. */
export interface SyncCompletion extends ReadTraffic {
  readonly state: Exclude<SyncState, 'running'>;
  readonly fault: ReadFault | null;
  /** Whether the read stopped before it had seen everything. */
  readonly isInterrupted: boolean;
  /** The serialized page digests to store; null clears the stored ones, absent leaves them. */
  readonly pageDigests?: string | null | undefined;
  readonly endedAt: number;
}

/** The state of a sync between two commits. The first commit inserts its row and gives it an id. */
export interface OpenSync {
  readonly request: SyncRequest;
  readonly part: string;
  readonly id: number | null;
  /** Whether this sync wrote rows, or an earlier one that was never finished. */
  readonly hasPartialRows: boolean;
  /** The previous read of the resource was complete. */
  readonly followsCompleteRead: boolean;
  /** The latest instant of any row before the sync. */
  readonly previousLatestInstant: string | null;
  /** The latest instant of any row by now. */
  readonly latestInstant: string | null;
  readonly counts: ChangeCounts;
  /** Whether the changes of this sync are drift. */
  readonly countsAsDrift: boolean;
}

/** What a commit changed: its counts, and the state of the sync after it. */
export interface CommitResult extends ChangeCounts {
  /** Null if the commit ended a scheduled read that found nothing new: that has no row in `syncs`. */
  readonly syncId: number | null;
  readonly latestInstant: string | null;
  readonly drift: number;
}

/** What a write did to a row. */
export type WriteResult = 'added' | 'changed' | 'unchanged';
