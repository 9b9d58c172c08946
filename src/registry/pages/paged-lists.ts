/**
 * The lists that client methods return. A caller iterates over their items. The mirror observes them: `observePages` and
 * `observeBatches` read the same list with the details that the mirror needs.
 */
import { RegistryError } from '../errors.js';
import type { Page, PagedList } from '../read-types.js';

/** Reads a list from its beginning. */
type ReadList<Chunk> = (options: ObservationOptions) => AsyncIterable<Chunk>;

/** A list that is read in pages. */
class ObservablePagedList<T> implements PagedList<T> {
  readonly observe: ReadList<ObservedPage<T>>;

  constructor(observe: ReadList<ObservedPage<T>>) {
    this.observe = observe;
  }

  /**
   * Yields the pages of the list in order. Throws after the last page if the list may be incomplete, for example because its
   * pages repeat.
   */
  async *pages(): AsyncGenerator<Page<T>> {
    for await (const { items, total, cursor, end, isListComplete } of this.observe({})) {
      yield { items, total, cursor };
      if (end !== null && !isListComplete)
        throw new RegistryError('bad_answer', `the list has no proper end: its last page is ${end}`);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const { items } of this.pages()) yield* items;
  }
}

/** A list that the registry sends in one response, and that is read in batches. */
class ObservableBatchedList<T> implements AsyncIterable<T> {
  readonly observe: ReadList<readonly T[]>;

  constructor(observe: ReadList<readonly T[]>) {
    this.observe = observe;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const batch of this.observe({})) yield* batch;
  }
}

/** Creates a list from a function that reads its pages. */
export function createPagedList<T>(readPages: ReadList<ObservedPage<T>>): PagedList<T> {
  return new ObservablePagedList(readPages);
}

/** Creates a list from a function that reads its rows in batches. */
export function createBatchedList<T>(readBatches: ReadList<readonly T[]>): AsyncIterable<T> {
  return new ObservableBatchedList(readBatches);
}

/**
 * Reads the pages of a list, each with its digest, its groups of rows and its arrival time. Throws if this client did not create
 * the list.
 */
export function observePages<T>(
  list: PagedList<T>,
  options: ObservationOptions = {},
): AsyncIterable<ObservedPage<T>> {
  if (list instanceof ObservablePagedList) return list.observe(options);
  throw new TypeError('observePages: expected a list of the client');
}

/** Reads the rows of an unpaged list in batches as they arrive. Throws if this client did not create the list. */
export function observeBatches<T>(
  list: AsyncIterable<T>,
  options: ObservationOptions = {},
): AsyncIterable<readonly T[]> {
  if (list instanceof ObservableBatchedList) return list.observe(options);
  throw new TypeError('observeBatches: expected a list of the client');
}

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
