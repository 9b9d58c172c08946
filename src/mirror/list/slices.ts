import { setImmediate as pause } from 'node:timers/promises';
import type { HeldPages } from './held-pages.js';
import { type Changes, type Close, type Ending, type ListCommitted, NO_CHANGES } from '../port.js';
import type { ListParts, Slice, Staging } from './staging.js';

/** Up to so many changes become visible at once, in the last transaction. */
const AT_ONCE = 400;
/** Characters of the documents that are held back: rows that are so long become visible earlier. */
const HOLD_LENGTH = 8 * 1024 * 1024;
/** The changes of a long list become visible after so many pages, or so many rows. */
const HOLD_PAGES = 50;
const REMEMBER_PAGES = 512;

/** What the end of a read writes beside the differences that are left. */
export interface Rest extends Pick<Changes, 'doubt' | 'dropPagesFrom'> {
  readonly closes: Iterable<Close>;
  readonly closed: number;
}

/** Writes what a read holds back, slice by slice. The last one is under way while the next page is read. */
export class Slices<Item extends { document: string }> {
  readonly #parts: ListParts<Item>;
  readonly #staging: Staging<Item>;
  readonly #pages: HeldPages;
  #pagesHeldBack = 0;
  #showsEarly = false;
  #underWay: Promise<void> = Promise.resolve();

  constructor(parts: ListParts<Item>, staging: Staging<Item>, pages: HeldPages) {
    this.#parts = parts;
    this.#staging = staging;
    this.#pages = pages;
  }

  /** The slice under way. */
  get last(): Promise<void> {
    return this.#underWay;
  }

  /** After a page of a list. */
  showPage(): Promise<void> {
    if (this.#staging.size > 0) this.#pagesHeldBack += 1;
    if (this.#isMuch || this.#pagesHeldBack >= HOLD_PAGES) return this.#beginAll();
    return this.#pages.waiting >= REMEMBER_PAGES ? this.#begin(0, {}) : Promise.resolve();
  }

  /** After a part of one answer. */
  showBatch(): Promise<void> {
    if (this.#staging.size > AT_ONCE || this.#isLong) this.#showsEarly = true;
    return this.#showsEarly && this.#isMuch ? this.#beginAll() : Promise.resolve();
  }

  /** What is left is written in one transaction if it is little, so that readers see the old list or the new. */
  async end({ closes, closed, ...rest }: Rest, ending: Omit<Ending, 'endedAt'>): Promise<void> {
    const isLittle = this.#staging.size + closed <= AT_ONCE;
    if (!isLittle) await this.#writeEarly(closes, rest.dropPagesFrom);
    await this.#begin(AT_ONCE, { ...rest, closes: isLittle ? [...closes] : [] }, ending);
    await this.#underWay;
  }

  get #isMuch(): boolean {
    return this.#isLong || this.#staging.size >= this.#parts.pace.rows;
  }

  get #isLong(): boolean {
    return this.#staging.length >= HOLD_LENGTH;
  }

  async #beginAll(): Promise<void> {
    while (this.#staging.size > 0) await this.#begin(this.#parts.pace.rows, {});
    this.#pagesHeldBack = 0;
  }

  /** What is remembered of pages is dropped before the first row is closed. */
  async #writeEarly(closes: Iterable<Close>, dropPagesFrom: number | null): Promise<void> {
    await this.#beginAll();
    await this.#begin(0, { dropPagesFrom });
    let some: Close[] = [];
    for (const close of closes) {
      some.push(close);
      if (some.length < AT_ONCE) continue;
      await this.#begin(0, { closes: some });
      some = [];
    }
    await this.#begin(0, { closes: some });
  }

  /**
   * Up to `limit` differences, the pages that they complete, and what else there is. Waits for the slice before, whose
   * fault it tells.
   */
  async #begin(
    limit: number,
    rest: Partial<Changes>,
    ending: Omit<Ending, 'endedAt'> | null = null,
  ): Promise<void> {
    await this.#underWay;
    await pause();
    const { port, run, now } = this.#parts;
    const slice = this.#staging.take(limit);
    const { inserts, projects } = slice;
    const changes = { ...NO_CHANGES, ...rest, inserts, projects, pages: this.#pages.readyWith(slice) };
    const end = ending === null ? null : { ...ending, endedAt: now() };
    const committed = port.commit(run.open(), changes, end);
    this.#underWay = committed.then(done => this.#settle(slice, done, end));
    this.#underWay.catch(() => undefined);
  }

  #settle(slice: Slice, done: ListCommitted, ending: Ending | null): void {
    this.#parts.run.note(done, ending);
    this.#staging.settle(slice, done.versions);
    this.#pages.forgetWritten();
    this.#parts.pace.note(slice.inserts.length, done.ms);
  }
}
