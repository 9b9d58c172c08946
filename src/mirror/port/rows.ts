import type { CommitResult } from './sync.js';
import type { SqlValue } from '../../resources/sql-values.js';
import type { ListResource } from '../../resources/lists.js';

/** The parts of a row's key. Each is an id or a hash. */
export type RowKey = readonly string[];

/** One list of one organization. */
export interface ListRef {
  readonly organizationId: string;
  readonly resource: ListResource;
}

/** A current row of a mirrored list. */
export interface StoredRow {
  readonly version: number;
  readonly document: string;
  readonly key: RowKey;
  /** The values of its columns, in the order of the columns; empty if they were not requested. */
  readonly cells: readonly SqlValue[];
}

/** The column values of one version, in the order of the columns. */
export interface VersionCells {
  readonly version: number;
  readonly cells: readonly SqlValue[];
}

/** A new version of a row, to be inserted. */
export interface RowInsert {
  readonly key: RowKey;
  /** The values of its columns, in the order of the columns. */
  readonly cells: readonly SqlValue[];
  readonly document: string;
  /** When the answer with the row arrived. */
  readonly observedAt: string;
  /** The version that is replaced; null for a new row. */
  readonly replacedVersion: number | null;
}

/** A row to be removed because the registry no longer has it. */
export interface RowRemoval {
  readonly version: number;
  /** When the first answer without the row arrived. */
  readonly observedAt: string;
}

/** The changes to a list that one transaction writes. */
export interface ListChanges {
  readonly inserts: readonly RowInsert[];
  readonly removals: readonly RowRemoval[];
  /** The correct column values of versions that somebody changed by hand. A repair creates no new version. */
  readonly repairs: readonly VersionCells[];
  /** Ids of projects that rows of this sync reference for the first time. */
  readonly projects: readonly string[];
  /** The packed versions of rows whose removal a second read must confirm. Null clears the stored value, undefined keeps it. */
  readonly unconfirmedRemovals: Uint8Array | null | undefined;
}

export const NO_CHANGES: ListChanges = {
  inserts: [],
  removals: [],
  repairs: [],
  projects: [],
  unconfirmedRemovals: undefined,
};

/** The effect of a commit of list changes. */
export interface ListCommitResult extends CommitResult {
  /** The version of each insert; 0 if it was not written because the person asked to be forgotten. */
  readonly versions: readonly number[];
}
