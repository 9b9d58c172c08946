/** The result of a purge: how many files it removed, and which installations must be read again. */
export interface PurgeResult {
  readonly removedFiles: number;
  /** Installations that were added during the purge. Their rows were removed too, so they must be read again. */
  readonly newInstallationIds: readonly string[];
}

/** The position after a batch of old syncs: the end time and the id of the last sync in the batch. */
export interface PrunePosition {
  readonly after: string;
  readonly id: number;
}

/** The next batch of old syncs to check. */
export interface PruneRequest {
  readonly endedBefore: string;
  /** Syncs that ended before this instant are never checked again, not even after a restart. */
  readonly settledBefore: string;
  /** The end of the previous batch. Null continues after the last settled batch of any process. */
  readonly position: PrunePosition | null;
}

/** The number of removed syncs, and the position of the next batch; `next` is null at the end. */
export interface PruneProgress {
  readonly removed: number;
  readonly next: PrunePosition | null;
}

/** The rows to remove: all members with their history and state, or the certificates or lists of one organization. */
export type RemovalScope =
  | 'members'
  | {
      readonly organizationId: string;
      /** The newest version to remove; newer ones stay. */
      readonly last: number;
      readonly kind: 'certificates' | 'lists';
    };
