/** What a purge removed, and what must be read again after it. */
export interface PurgeResult {
  readonly removedFiles: number;
  /** Installations that were added during the purge. Their rows were removed too, so they must be read again. */
  readonly newInstallationIds: readonly string[];
}

/** Where a batch of old syncs ends: the end of its last sync and that sync's id. */
export interface PrunePosition {
  readonly after: string;
  readonly id: number;
}

/** Which old syncs to check next. */
export interface PruneRequest {
  readonly endedBefore: string;
  /** What ended before this instant is never checked again, also after a restart. */
  readonly settledBefore: string;
  /** The end of the previous batch; null continues where an earlier run, also of another process, had settled. */
  readonly position: PrunePosition | null;
}

/** How many syncs were removed, and where to continue; `next` is null at the end. */
export interface PruneProgress {
  readonly removed: number;
  readonly next: PrunePosition | null;
}

/** Which rows to remove: all members with their history and state, or one organization's certificates or lists. */
export type RemovalScope =
  | 'members'
  | {
      readonly organizationId: string;
      /** The newest version to remove; newer ones stay. */
      readonly last: number;
      readonly kind: 'certificates' | 'lists';
    };
