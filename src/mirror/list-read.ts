import { setImmediate as pause } from 'node:timers/promises';
import type { Answer, Counts, Fault } from './books.js';
import { formatInstant } from './columns.js';
import { HeldPages } from './held-pages.js';
import {
  type Ask,
  type Circumstances,
  COMPLETE,
  type Closing,
  closeRows,
  type Decision,
  decide,
  findMissing,
  type Missing,
  NONE,
  partial,
} from './missing.js';
import { digestOf } from './pages.js';
import type { ListParts } from './parts.js';
import type { Traffic } from './run.js';
import { type Origin, Staging } from './staging.js';
import { VersionSet } from './version-set.js';

/** Rows of one transaction: some 30 ms with their sums, in which nothing else is done. */
const SLICE = 350;
/** Up to so many changes become visible at once, in the last transaction. */
const AT_ONCE = 400;
/** Characters of the documents that are held back: rows that are so long become visible earlier. */
const HOLD_LENGTH = 8 * 1024 * 1024;
/** The changes of a long list become visible after so many pages, or so many rows. */
const HOLD_PAGES = 50;
const REMEMBER_PAGES = 512;

const OWNER_UNTOLD: Fault = {
  code: 'owner_untold',
  message:
    'it lacks rows and does not say whose list it is, as earlier answers did; "sync --full" believes it',
};

export interface PageResult {
  /** Rows that this read had not seen before; 0 where the page only repeats. */
  readonly fresh: number;
  readonly repeated: number;
}

export interface Finish extends Traffic {
  /** How many rows the registry says the list has; null where it does not say. */
  readonly total: number | null;
  readonly ask?: Ask;
  /** Why this is not the whole list, whatever else is known of it. */
  readonly flaw?: Fault | null;
}

export interface Outcome extends Readonly<Counts> {
  readonly state: 'complete' | 'partial' | 'doubtful';
  readonly fault: Fault | null;
  readonly runId: number;
  readonly drift: number;
  /** Rows that were not found and are still there, and the ids of up to 50 of the missing. */
  readonly missing: number;
  readonly missingIds: readonly string[];
  /** The list moved while it was read: reading it once more, at once, can settle it. */
  readonly readAgain: boolean;
}

/** A read of one list. Its calls follow one another; each works for a few milliseconds between two pauses. */
export interface Read<Item> {
  /** A page of a paginated list, numbered from 0, and when its answer had arrived. */
  writePage(page: number, items: readonly Item[], arrivedAt: number): Promise<PageResult>;
  /** A part of one answer that holds the whole list, and when that part had arrived. */
  writeBatch(items: readonly Item[], arrivedAt: number): Promise<PageResult>;
  /** After everything was written: closes what is gone, if that is certain. */
  finish(finish: Finish): Promise<Outcome>;
  abandon(fault: Fault, traffic: Traffic): void;
}

export class ListRead<Item extends { document: string }> implements Read<Item> {
  readonly #parts: ListParts<Item>;
  readonly #staging: Staging<Item>;
  readonly #pages: HeldPages;
  #pagesHeldBack = 0;
  #showsEarly = false;

  constructor(parts: ListParts<Item>) {
    this.#parts = parts;
    this.#staging = new Staging(parts);
    this.#pages = new HeldPages(parts.pages, parts.run.before.open_run === null);
  }

  async writePage(page: number, items: readonly Item[], arrivedAt: number): Promise<PageResult> {
    this.#parts.run.demandNotEnded();
    const digest = digestOf(items);
    const before = this.#pages.visit(page, digest, this.#staging);
    if (before === null) return { fresh: items.length, repeated: 0 };
    this.#staging.demandDistinct(items);
    const held = { number: page, digest, versions: Array.from(items, () => 0), waiting: 0 };
    const result = await this.#compare(items, { told: formatInstant(arrivedAt), page: held, likely: before });
    this.#pages.hold(held);
    await this.#showPages();
    return result;
  }

  async writeBatch(items: readonly Item[], arrivedAt: number): Promise<PageResult> {
    this.#parts.run.demandNotEnded();
    const told = formatInstant(arrivedAt);
    const result = await this.#compare(items.filter(this.#parts.admits()), { told, page: null, likely: [] });
    if (this.#staging.size > AT_ONCE || this.#isLong) this.#showsEarly = true;
    if (this.#showsEarly && (this.#staging.size >= SLICE || this.#isLong)) await this.#applyAll();
    return result;
  }

  async finish({ total, ask, flaw = null, ...traffic }: Finish): Promise<Outcome> {
    this.#parts.run.demandNotEnded();
    if (flaw !== null) return this.#end(partial(flaw), [], traffic);
    const seen = this.#staging.distinct;
    if (total !== null && total !== seen) {
      const fault = {
        code: 'total_differs',
        message: `the registry counts ${total} rows, this read saw ${seen}`,
      };
      return this.#end({ ...partial(fault), readAgain: true }, [], traffic);
    }
    if (this.#staging.unseen === 0) return this.#end(COMPLETE, [], traffic);
    const missing = await findMissing(this.#parts, this.#staging.seen);
    const decision = await this.#decide(missing, ask, traffic);
    const outcome = await this.#end(decision, [...missing.first.keys()], traffic);
    return { ...outcome, missing: missing.versions.size - outcome.removed };
  }

  /** An answer that lacks rows and does not say whose it is, where others did, may be anybody's. */
  async #decide(missing: Missing, ask: Finish['ask'], { ownerTold }: Traffic): Promise<Decision> {
    if (missing.versions.size === 0) return COMPLETE;
    const isExpected = this.#parts.run.before.owner_told === 1;
    if (ownerTold === undefined && isExpected) return partial(OWNER_UNTOLD);
    return decide(missing, this.#circumstances(ask));
  }

  abandon(fault: Fault, traffic: Traffic): void {
    this.#staging.clear();
    this.#parts.run.abandon(fault, { ...traffic, answer: this.#admitted(traffic.answer ?? null) });
  }

  #admitted(answer: Answer | null): Answer | null {
    if (answer === null || answer.text === null || this.#parts.mayKeep(answer.text)) return answer;
    return { ...answer, text: null };
  }

  async #compare(items: readonly Item[], origin: Omit<Origin, 'start'>): Promise<PageResult> {
    const before = this.#staging.distinct;
    for (let start = 0; start < items.length; start += SLICE) {
      if (start > 0) await pause();
      this.#staging.compare(items.slice(start, start + SLICE), { ...origin, start });
    }
    const fresh = this.#staging.distinct - before;
    return { fresh, repeated: items.length - fresh };
  }

  get #isLong(): boolean {
    return this.#staging.length >= HOLD_LENGTH;
  }

  async #showPages(): Promise<void> {
    if (this.#staging.size > 0) this.#pagesHeldBack += 1;
    const isMuch = this.#staging.size >= SLICE || this.#isLong || this.#pagesHeldBack >= HOLD_PAGES;
    if (isMuch) return this.#applyAll();
    if (this.#pages.waiting >= REMEMBER_PAGES) this.#write(() => ({}));
  }

  async #applyAll(): Promise<void> {
    while (this.#staging.size > 0) {
      this.#write(runId => this.#staging.apply(runId, SLICE));
      await pause();
    }
    this.#pagesHeldBack = 0;
  }

  #write(work: (runId: number) => Partial<Counts>): void {
    this.#parts.run.write(runId => {
      const counts = work(runId);
      this.#pages.keep();
      return counts;
    });
  }

  #circumstances(ask: Finish['ask']): Circumstances {
    const { before } = this.#parts.run;
    return {
      before: before.rows,
      seen: this.#staging.distinct,
      isSnapshot: this.#pages.visited <= 1,
      isQuiet: this.#pages.moved === 0,
      doubted: before.doubted === null ? NONE : VersionSet.unpack(before.doubted),
      doubtedForMs: this.#doubtedForMs(),
      ask,
    };
  }

  /** A doubt of the future, before the clock was put right, begins anew. */
  #doubtedForMs(): number | null {
    const { request, run } = this.#parts;
    if (run.before.doubted_at === null) return null;
    const ms = request.startedAt - Date.parse(run.before.doubted_at);
    return ms < 0 ? null : ms;
  }

  /** What is left is written in one transaction if it is little, so that readers see the old list or the new. */
  async #end(decision: Decision, ids: readonly string[], traffic: Traffic): Promise<Outcome> {
    const { run, now } = this.#parts;
    const closing = { close: decision.close.values(), goneAt: decision.goneAt, endedAt: now() };
    const isLittle = this.#staging.size + decision.close.size <= AT_ONCE;
    if (!isLittle) await this.#writeInSlices(closing);
    const { state, fault, readAgain } = decision;
    const { id, drift } = run.end({ state, fault, isInterrupted: false, ...traffic }, runId => {
      const counts = this.#staging.apply(runId, AT_ONCE);
      this.#pages.keep();
      this.#pages.dropStale(this.#staging.repeated);
      this.#doubt(decision.doubt);
      return { ...counts, removed: isLittle ? closeRows(this.#parts, closing, runId) : 0 };
    });
    return { ...run.counts, state, fault, runId: id, drift, missing: 0, missingIds: ids, readAgain };
  }

  async #writeInSlices(closing: Closing): Promise<void> {
    await this.#applyAll();
    this.#write(() => {
      this.#pages.dropStale(this.#staging.repeated);
      return {};
    });
    let slice: number[] = [];
    for (const version of closing.close) {
      slice.push(version);
      if (slice.length === SLICE) {
        const full = { ...closing, close: slice };
        this.#write(runId => ({ removed: closeRows(this.#parts, full, runId) }));
        slice = [];
        await pause();
      }
    }
    this.#write(runId => ({ removed: closeRows(this.#parts, { ...closing, close: slice }, runId) }));
  }

  #doubt(doubt: VersionSet | null | undefined): void {
    const { books, request, run } = this.#parts;
    if (doubt === undefined || (doubt === null && run.before.doubted_at === null)) return;
    books.doubt({
      organization_id: request.organizationId,
      resource: request.resource,
      doubted_at: doubt === null ? null : new Date(request.startedAt).toISOString(),
      doubted: doubt?.pack() ?? null,
    });
  }
}
