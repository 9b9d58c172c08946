/**
 * The lists that client methods return. A caller iterates over their items. The mirror observes them: `observePages` and
 * `observeBatches` read the same list with the details that the mirror needs.
 */
import { RegistryError } from '../errors.js';
import type { Page, PagedList } from '../read-types.js';
import type { ObservationOptions, ObservedPage } from './observed-page.js';

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
