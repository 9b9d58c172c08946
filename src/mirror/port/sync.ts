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

/** A request to begin a sync of one resource of an organization. */
export interface SyncRequest {
  readonly organizationId: string;
  readonly resource: Resource;
  readonly claim: number;
  /** When the read began, before its first call to the registry, in epoch milliseconds. */
  readonly startedAt: number;
  readonly trigger: string;
  /** Whether to compare every page and check the columns of every row. Otherwise unchanged pages are skipped. */
  readonly full?: boolean;
  /** Absent if no job runs the sync. */
  readonly cause?: SyncCause;
}

/**
 * Returns whether a delivery has arrived since the start of the last complete read. If none has, the changes that a
 * scheduled sync finds are drift.
 */
export type HasNewDelivery = (since: number) => Promise<boolean>;

/** The numbers of rows that were added, changed, removed and found unchanged. */
export interface ChangeCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

/** The end of a sync, written by its last commit. */
export interface SyncCompletion extends ReadTraffic {
  readonly state: Exclude<SyncState, 'running'>;
  readonly fault: ReadFault | null;
  /** Whether the read stopped before its last page. */
  readonly isInterrupted: boolean;
  /** The serialized page digests to store. Null clears the stored digests, absent keeps them. */
  readonly pageDigests?: string | null | undefined;
  readonly endedAt: number;
}

/** The state of a sync between two commits. The first commit inserts its row and gives it an id. */
export interface OpenSync {
  readonly request: SyncRequest;
  readonly part: string;
  readonly id: number | null;
  /** Whether this sync, or an earlier one that was interrupted, has written rows. */
  readonly hasPartialRows: boolean;
  /** Whether the previous read of the resource was complete. */
  readonly followsCompleteRead: boolean;
  /** The latest instant of any row before the sync. */
  readonly previousLatestInstant: string | null;
  /** The latest instant of any row, including the rows that this sync has written. */
  readonly latestInstant: string | null;
  readonly counts: ChangeCounts;
  /** Whether the changes of this sync are drift. */
  readonly countsAsDrift: boolean;
}

/** The effect of a commit: its counts, and the state of the sync afterwards. */
export interface CommitResult extends ChangeCounts {
  /** Null if the commit ended a scheduled read that found nothing new, because such reads have no row in `syncs`. */
  readonly syncId: number | null;
  readonly latestInstant: string | null;
  readonly drift: number;
}

/** The effect of a write on a row. */
export type WriteResult = 'added' | 'changed' | 'unchanged';
