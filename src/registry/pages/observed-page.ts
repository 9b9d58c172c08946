/**
 * What the mirror learns from the pages of a list, beyond their items. No published type contains it: the client yields a
 * `Page`, and `observePages` in `paged-lists.ts` yields an `ObservedPage` of the same list.
 */

/** What the mirror passes when it observes a list. */
export interface ObservationOptions {
  /**
   * The pages and groups of rows that an earlier read has seen. They are recognized by their digests and not parsed
   * again. Lists without pages ignore this option.
   */
  readonly knownRows?: KnownListRows | undefined;
  /**
   * Called for each response with an organization's list. Receives the owner that the response names, or null if it
   * names none.
   */
  readonly onOwner?: ((organizationId: string | null) => void) | undefined;
}

/** Tells which pages and groups of rows an earlier read has seen. */
interface KnownListRows {
  /** Returns the number of rows of a known page; undefined if the page is unknown. */
  readonly getRowCount: (pageDigest: string) => number | undefined;
  /** Whether an earlier read has seen the group with this digest. */
  readonly hasGroup: (groupDigest: string) => boolean;
}

/**
 * Consecutive rows of a page that are compared as one. Where a group ends depends only on the ids of its rows, so a row
 * that is inserted before them leaves most groups unchanged.
 */
export interface PageRowGroup {
  /** SHA-256 (hex) of the texts of the rows: equal digests mean equal rows in the same order. */
  readonly digest: string;
  readonly ids: readonly string[];
}

/** One page of a list. */
export interface ObservedPage<T> {
  /** The parsed rows of the groups that an earlier read has not seen. */
  readonly items: readonly T[];
  /** The number of rows. */
  readonly rows: number;
  /** Whether an earlier read has seen the whole page. It then has neither items nor groups. */
  readonly isKnown: boolean;
  /** The groups that an earlier read has seen. */
  readonly knownGroups: readonly PageRowGroup[];
  /** The groups that an earlier read has not seen. */
  readonly unknownGroups: readonly PageRowGroup[];
  /** Counted from 0. */
  readonly number: number;
  /** The length of the whole list as the registry states it, or null if it does not. */
  readonly total: number | null;
  /** The number of rows that were requested. */
  readonly limit: number;
  /** The number of rows that a full page of this list has in fact. */
  readonly pageSize: number;
  readonly bytes: number;
  /** SHA-256 (hex) of the list: equal digests mean equal rows in the same order. */
  readonly digest: string;
  /** When the page was received, in epoch milliseconds of the local clock. It may be yielded much later. */
  readonly arrivedAt: number;
  /** Where a later read goes on, or null if this page is the last. */
  readonly cursor: string | null;
  readonly isLast: boolean;
  /**
   * Why this page is the last: the list ended, the page had no new rows, or there were more pages than the list should
   * have. Null if it is not the last.
   */
  readonly end: 'complete' | 'repeated' | 'endless' | null;
  /** Whether this page is the last and all rows of the list were read, by the registry's own count or by its end. */
  readonly isListComplete: boolean;
}
