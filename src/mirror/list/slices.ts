import type { ListChanges, RowClose, SyncCompletion } from '../port.js';

/** Up to so many changes become visible at once: one transaction holds others up for some 60 ms at most. */
const AT_ONCE = 800;
/** Characters of the documents that are held back: rows that are so long become visible earlier. */
const HOLD_LENGTH = 8 * 1024 * 1024;
/** The changes of a long list become visible after so many pages, or so many rows. */
const HOLD_PAGES = 50;

/** What the end of a read writes beside the differences that are left. */
export interface Rest extends Pick<ListChanges, 'doubt'> {
  readonly closes: Iterable<RowClose>;
  readonly closed: number;
}

/** What one transaction writes: so many differences, and what else there is. */
export interface Portion {
  readonly limit: number;
  readonly rest: Partial<ListChanges>;
  /** Of the sync, with the last one. */
  readonly ending?: Omit<SyncCompletion, 'endedAt'>;
}

interface HeldBack {
  readonly size: number;
  readonly length: number;
  readonly mends: number;
}

/** Says when what a read holds back is written, and in which portions: each is asked for when the one before is taken. */
export class Slices {
  readonly #held: HeldBack;
  #pagesHeldBack = 0;
  #showsEarly = false;

  constructor(held: HeldBack) {
    this.#held = held;
  }

  /** After a page of a list. */
  *afterPage(): Generator<Portion> {
    if (this.#held.size > 0) this.#pagesHeldBack += 1;
    if (this.#isMuch || this.#pagesHeldBack >= HOLD_PAGES) yield* this.all();
    else if (this.#isMended) yield { limit: 0, rest: {} };
  }

  /** After a part of one answer. */
  *afterBatch(): Generator<Portion> {
    if (this.#held.size > AT_ONCE || this.#isLong) this.#showsEarly = true;
    if (this.#showsEarly && this.#isMuch) yield* this.all();
    else if (this.#isMended) yield { limit: 0, rest: {} };
  }

  /** What is left is written in one transaction if it is little, so that readers see the old list or the new. */
  *atEnd({ closes, closed, ...rest }: Rest, ending: Omit<SyncCompletion, 'endedAt'>): Generator<Portion> {
    const isLittle = this.#held.size + closed <= AT_ONCE;
    if (!isLittle) yield* this.#early(closes);
    yield { limit: AT_ONCE, rest: { ...rest, closes: isLittle ? [...closes] : [] }, ending };
  }

  /** Nothing is new of a row that is restored. */
  get #isMended(): boolean {
    return this.#held.mends >= AT_ONCE;
  }

  get #isMuch(): boolean {
    return this.#isLong || this.#held.size >= AT_ONCE;
  }

  get #isLong(): boolean {
    return this.#held.length >= HOLD_LENGTH;
  }

  *all(): Generator<Portion> {
    while (this.#held.size > 0) yield { limit: AT_ONCE, rest: {} };
    this.#pagesHeldBack = 0;
  }

  *#early(closes: Iterable<RowClose>): Generator<Portion> {
    yield* this.all();
    let some: RowClose[] = [];
    for (const close of closes) {
      some.push(close);
      if (some.length < AT_ONCE) continue;
      yield { limit: 0, rest: { closes: some } };
      some = [];
    }
    yield { limit: 0, rest: { closes: some } };
  }
}
