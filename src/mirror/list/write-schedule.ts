import type { ListChanges, RowClose, SyncCompletion } from '../port.js';

/** Changes in one transaction. More would hold up other writers for over 60 ms or so. */
const MAX_CHANGES_PER_WRITE = 800;
/** Buffered characters of documents above which rows are written early, to limit memory. */
const MAX_BUFFERED_LENGTH = 8 * 1024 * 1024;
/** Changes of a long list are written after this many pages, even if they are few. */
const MAX_BUFFERED_PAGES = 50;

/** What the end of a read writes besides the differences that are still buffered. */
export interface FinalChanges extends Pick<ListChanges, 'doubt'> {
  readonly closes: Iterable<RowClose>;
  readonly closeCount: number;
}

/** One transaction: up to `limit` of the buffered differences, and other changes. */
export interface ScheduledWrite {
  readonly limit: number;
  readonly otherChanges: Partial<ListChanges>;
  /** Present in the last write, which ends the sync. */
  readonly completion?: Omit<SyncCompletion, 'endedAt'>;
}

/** How much a read has buffered: differing rows, characters of their documents, and repairs. */
interface BufferSize {
  readonly size: number;
  readonly length: number;
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

  /** Yields the writes that are due after a page of a paginated list. */
  *afterPage(): Generator<ScheduledWrite> {
    if (this.#buffer.size > 0) this.#bufferedPages += 1;
    if (this.#isFull || this.#bufferedPages >= MAX_BUFFERED_PAGES) yield* this.writeAll();
    else if (this.#hasManyRepairs) yield { limit: 0, otherChanges: {} };
  }

  /** Yields the writes that are due after a part of a single answer. A short list is written only at the end. */
  *afterBatch(): Generator<ScheduledWrite> {
    if (this.#buffer.size > MAX_CHANGES_PER_WRITE || this.#isTooLong) this.#writesEarly = true;
    if (this.#writesEarly && this.#isFull) yield* this.writeAll();
    else if (this.#hasManyRepairs) yield { limit: 0, otherChanges: {} };
  }

  /** Yields the last writes. Few changes go into one transaction, so that readers see the old list or the new one. */
  *atEnd(
    { closes, closeCount, ...finalChanges }: FinalChanges,
    completion: Omit<SyncCompletion, 'endedAt'>,
  ): Generator<ScheduledWrite> {
    const fitsInOneWrite = this.#buffer.size + closeCount <= MAX_CHANGES_PER_WRITE;
    if (!fitsInOneWrite) yield* this.#writeBeforeEnd(closes);
    const remainingCloses = fitsInOneWrite ? [...closes] : [];
    yield {
      limit: MAX_CHANGES_PER_WRITE,
      otherChanges: { ...finalChanges, closes: remainingCloses },
      completion,
    };
  }

  /** Yields writes until no difference is buffered. */
  *writeAll(): Generator<ScheduledWrite> {
    while (this.#buffer.size > 0) yield { limit: MAX_CHANGES_PER_WRITE, otherChanges: {} };
    this.#bufferedPages = 0;
  }

  /** Whether repairs alone fill a transaction. They are written separately because they are no new versions. */
  get #hasManyRepairs(): boolean {
    return this.#buffer.repairCount >= MAX_CHANGES_PER_WRITE;
  }

  /** Whether the buffer holds enough for a transaction of its own. */
  get #isFull(): boolean {
    return this.#isTooLong || this.#buffer.size >= MAX_CHANGES_PER_WRITE;
  }

  /** Whether the buffered documents take too much memory. */
  get #isTooLong(): boolean {
    return this.#buffer.length >= MAX_BUFFERED_LENGTH;
  }

  /** Yields writes for all buffered differences and all closes. */
  *#writeBeforeEnd(closes: Iterable<RowClose>): Generator<ScheduledWrite> {
    yield* this.writeAll();
    let batch: RowClose[] = [];
    for (const close of closes) {
      batch.push(close);
      if (batch.length < MAX_CHANGES_PER_WRITE) continue;
      yield { limit: 0, otherChanges: { closes: batch } };
      batch = [];
    }
    yield { limit: 0, otherChanges: { closes: batch } };
  }
}
