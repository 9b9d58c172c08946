import type { ListChanges, RowRemoval } from '../port/rows.js';
import type { SyncCompletion } from '../port/sync.js';

/** The most changes in one transaction. More would make other writers wait for over 60 ms. */
const MAX_CHANGES_PER_WRITE = 800;
/** Buffered characters of documents above which rows are written early, to limit memory. */
const MAX_BUFFERED_LENGTH = 8 * 1024 * 1024;
/** Changes of a long list are written after this many pages, even if they are few. */
const MAX_BUFFERED_PAGES = 50;

/** The changes that the end of a read writes in addition to the buffered differences. */
export interface FinalChanges extends Pick<ListChanges, 'unconfirmedRemovals'> {
  readonly removals: Iterable<RowRemoval>;
  readonly removalCount: number;
}

/** One transaction to write: up to `limit` of the buffered differences, and other changes. */
export interface ScheduledWrite {
  readonly limit: number;
  readonly otherChanges: Partial<ListChanges>;
  /** Present in the last write, which ends the sync. */
  readonly completion?: Omit<SyncCompletion, 'endedAt'>;
}

/** How much a read has buffered: differences, characters of their documents, and repairs. */
interface BufferSize {
  readonly pendingCount: number;
  readonly pendingLength: number;
  readonly repairCount: number;
}

/**
 * Decides when a read writes the differences it has buffered, and in how many transactions. The buffer shrinks as the
 * caller performs each write, so a write must be performed before the next one is taken from the generator.
 */
export class WriteSchedule {
  readonly #buffer: BufferSize;
  #bufferedPages = 0;
  #writesEarly = false;

  constructor(buffer: BufferSize) {
    this.#buffer = buffer;
  }

  /**
   * Plans the transactions to run after each page of a read, and counts the pages. Yields none until enough changes or pages are
   * buffered.
   */
  *planWritesAfterPage(): Generator<ScheduledWrite> {
    if (this.#buffer.pendingCount > 0) this.#bufferedPages += 1;
    if (this.#isFull || this.#bufferedPages >= MAX_BUFFERED_PAGES) yield* this.planAllWrites();
    else if (this.#hasManyRepairs) yield { limit: 0, otherChanges: {} };
  }

  /**
   * Plans the transactions that write buffered changes of an unpaginated list. Call this after each batch of rows has been compared with
   * the stored rows. Yields no transaction while few changes are buffered.
   */
  *planWritesAfterBatch(): Generator<ScheduledWrite> {
    // Changes of a short list stay in the buffer until the read ends.
    if (this.#buffer.pendingCount > MAX_CHANGES_PER_WRITE || this.#isTooLong) this.#writesEarly = true;
    if (this.#writesEarly && this.#isFull) yield* this.planAllWrites();
    else if (this.#hasManyRepairs) yield { limit: 0, otherChanges: {} };
  }

  /**
   * Plans the transactions at the end of a read. Plans a single transaction if all remaining changes fit in it, and several otherwise. The
   * last transaction also stores `completion`, which ends the sync.
   */
  *planLastWrites(
    { removals, removalCount, ...finalChanges }: FinalChanges,
    completion: Omit<SyncCompletion, 'endedAt'>,
  ): Generator<ScheduledWrite> {
    // In one transaction, the remaining changes become visible together.
    const fitsInOneWrite = this.#buffer.pendingCount + removalCount <= MAX_CHANGES_PER_WRITE;
    if (!fitsInOneWrite) yield* this.#planWritesBeforeEnd(removals);
    const remainingRemovals = fitsInOneWrite ? [...removals] : [];
    yield {
      limit: MAX_CHANGES_PER_WRITE,
      otherChanges: { ...finalChanges, removals: remainingRemovals },
      completion,
    };
  }

  /**
   * Yields transactions until all buffered row versions are written. The caller must start each transaction before it takes the
   * next.
   */
  *planAllWrites(): Generator<ScheduledWrite> {
    while (this.#buffer.pendingCount > 0) yield { limit: MAX_CHANGES_PER_WRITE, otherChanges: {} };
    this.#bufferedPages = 0;
  }

  /** Whether the buffered repairs alone fill a transaction. */
  get #hasManyRepairs(): boolean {
    return this.#buffer.repairCount >= MAX_CHANGES_PER_WRITE;
  }

  /** Whether the buffer holds enough for a transaction of its own. */
  get #isFull(): boolean {
    return this.#isTooLong || this.#buffer.pendingCount >= MAX_CHANGES_PER_WRITE;
  }

  /** Whether the buffered documents take too much memory. */
  get #isTooLong(): boolean {
    return this.#buffer.pendingLength >= MAX_BUFFERED_LENGTH;
  }

  /**
   * Plans all but the last transaction at the end of a long read: first the buffered row versions are written, then `removals` in
   * batches.
   */
  *#planWritesBeforeEnd(removals: Iterable<RowRemoval>): Generator<ScheduledWrite> {
    yield* this.planAllWrites();
    let batch: RowRemoval[] = [];
    for (const removal of removals) {
      batch.push(removal);
      if (batch.length < MAX_CHANGES_PER_WRITE) continue;
      yield { limit: 0, otherChanges: { removals: batch } };
      batch = [];
    }
    yield { limit: 0, otherChanges: { removals: batch } };
  }
}
