import { setImmediate as pause } from 'node:timers/promises';
import { formatInstant } from '../../resources/columns.js';
import { HeldPage } from './held-page.js';
import { digestOf, HeldPages } from './held-pages.js';
import type { Finish, Outcome, PageResult, Read } from '../mirror.js';
import {
  type Circumstances,
  COMPLETE,
  type Decision,
  decide,
  findMissing,
  type Missing,
  NONE,
  partial,
} from './missing.js';
import type { ListParts } from './parts.js';
import { isForgotten } from '../people.js';
import {
  type Changes,
  type Close,
  type Committed,
  type Ending,
  type Fault,
  type LastRead,
  NO_CHANGES,
  type Traffic,
} from '../port.js';
import { type Origin, Staging } from './staging.js';
import { VersionSet } from './version-set.js';

/** Up to so many changes become visible at once, in the last transaction. */
const AT_ONCE = 400;
/** Characters of the documents that are held back: rows that are so long become visible earlier. */
const HOLD_LENGTH = 8 * 1024 * 1024;
const COMPARE_AT_ONCE = 250;
/** The changes of a long list become visible after so many pages, or so many rows. */
const HOLD_PAGES = 50;
const REMEMBER_PAGES = 512;

const OWNER_UNTOLD: Fault = {
  code: 'owner_untold',
  message:
    'it lacks rows and does not say whose list it is, as earlier answers did; "sync --full" believes it',
};

export class ListRead<Item extends { document: string }> implements Read<Item> {
  readonly before: LastRead | null;
  readonly #parts: ListParts<Item>;
  readonly #staging: Staging<Item>;
  readonly #pages: HeldPages;
  #pagesHeldBack = 0;
  #showsEarly = false;
  /** The slice that is being written while the next page is read. */
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(parts: ListParts<Item>) {
    const { port, list, run } = parts;
    this.before = run.before.last;
    this.#parts = parts;
    this.#staging = new Staging(parts);
    this.#pages = new HeldPages(port, list, run.before.rows > 0 && !run.before.isBroken);
  }

  async writePage(
    page: number,
    items: readonly Item[],
    arrivedAt: number,
    digest: string = digestOf(items),
  ): Promise<PageResult> {
    this.#parts.run.demandNotEnded();
    const before = await this.#pages.visit(page, digest, this.#staging);
    if (before === null) return { fresh: items.length, repeated: 0 };
    this.#staging.demandDistinct(items);
    const held = new HeldPage(page, digest, items.length);
    const result = await this.#compare(items, { told: formatInstant(arrivedAt), page: held, likely: before });
    this.#pages.hold(held);
    await this.#showPages();
    return result;
  }

  async writeBatch(items: readonly Item[], arrivedAt: number): Promise<PageResult> {
    this.#parts.run.demandNotEnded();
    const told = formatInstant(arrivedAt);
    const result = await this.#compare(await this.#admitted(items), { told, page: null, likely: [] });
    if (this.#staging.size > AT_ONCE || this.#isLong) this.#showsEarly = true;
    if (this.#showsEarly && this.#isMuch) await this.#applyAll();
    return result;
  }

  async finish({ total, ask, flaw = null, ...traffic }: Finish): Promise<Outcome> {
    const { port, list, run } = this.#parts;
    run.demandNotEnded();
    await this.#underWay;
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
    const missing = await findMissing(port, list, this.#staging.seen);
    const decision = await this.#decide(missing, ask, traffic);
    const outcome = await this.#end(decision, [...missing.first.keys()], traffic);
    return { ...outcome, missing: missing.versions.size - outcome.removed };
  }

  /** An answer that lacks rows and does not say whose it is, where others did, may be anybody's. */
  async #decide(missing: Missing, ask: Finish['ask'], { ownerTold }: Traffic): Promise<Decision> {
    if (missing.versions.size === 0) return COMPLETE;
    if (ownerTold === undefined && this.#parts.run.before.isOwnerTold) return partial(OWNER_UNTOLD);
    return decide(missing, this.#circumstances(ask));
  }

  /** What went wrong with the slice under way is told by what is written next, or was told already. */
  async abandon(fault: Fault, traffic: Traffic): Promise<void> {
    await this.#underWay.catch(() => undefined);
    this.#staging.clear();
    await this.#parts.run.abandon(fault, traffic);
  }

  /** Without people who have asked to be forgotten. */
  async #admitted(items: readonly Item[]): Promise<readonly Item[]> {
    const { port, entry } = this.#parts;
    const email = entry.columns.find(cell => cell.name === 'email');
    const forgotten = email === undefined ? null : new Set(await port.forgottenPeople());
    if (email === undefined || forgotten === null || forgotten.size === 0) return items;
    return items.filter(item => {
      const address = email.of(item);
      return typeof address !== 'string' || !isForgotten(forgotten, address);
    });
  }

  async #compare(items: readonly Item[], origin: Omit<Origin, 'start'>): Promise<PageResult> {
    const before = this.#staging.distinct;
    for (let start = 0; start < items.length; start += COMPARE_AT_ONCE) {
      if (start > 0) await pause();
      const some = items.slice(start, start + COMPARE_AT_ONCE);
      if (this.#staging.isLeaving(some)) await this.#underWay;
      await this.#staging.compare(some, { ...origin, start });
    }
    const fresh = this.#staging.distinct - before;
    return { fresh, repeated: items.length - fresh };
  }

  get #isMuch(): boolean {
    return this.#isLong || this.#staging.size >= this.#parts.pace.rows;
  }

  get #isLong(): boolean {
    return this.#staging.length >= HOLD_LENGTH;
  }

  async #showPages(): Promise<void> {
    if (this.#staging.size > 0) this.#pagesHeldBack += 1;
    if (this.#isMuch || this.#pagesHeldBack >= HOLD_PAGES) return this.#applyAll();
    if (this.#pages.waiting >= REMEMBER_PAGES) await this.#begin(0, {});
  }

  /** The last slice is left under way. */
  async #applyAll(): Promise<void> {
    while (this.#staging.size > 0) await this.#begin(this.#parts.pace.rows, {});
    this.#pagesHeldBack = 0;
  }

  /** Waits for the slice before this one, whose fault it tells. */
  async #begin(limit: number, rest: Partial<Changes>): Promise<void> {
    await this.#underWay;
    await pause();
    this.#underWay = this.#commit(limit, rest, null);
    this.#underWay.catch(() => undefined);
  }

  /** Writes up to `limit` differences, remembers the pages that they complete, and what else there is. */
  async #commit(
    limit: number,
    rest: Partial<Changes>,
    ending: Omit<Ending, 'endedAt'> | null,
  ): Promise<Committed> {
    const { run, pace } = this.#parts;
    const slice = this.#staging.take(limit);
    const { inserts, projects } = slice;
    const pages = this.#pages.readyWith(slice);
    const changes: Changes = { ...NO_CHANGES, ...rest, inserts, projects, pages };
    const done = await run.commit(changes, ending);
    this.#staging.settle(slice, done.versions);
    this.#pages.forgetWritten();
    pace.note(inserts.length, done.ms);
    return done;
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
    if (run.before.doubtedAt === null) return null;
    const ms = request.startedAt - Date.parse(run.before.doubtedAt);
    return ms < 0 ? null : ms;
  }

  /** What is left is written in one transaction if it is little, so that readers see the old list or the new. */
  async #end(decision: Decision, ids: readonly string[], traffic: Traffic): Promise<Outcome> {
    const { run } = this.#parts;
    const { state, fault, readAgain } = decision;
    const closes = this.#closesOf(decision);
    const isLittle = this.#staging.size + decision.close.size <= AT_ONCE;
    if (!isLittle) await this.#writeInSlices(closes);
    const rest = {
      closes: isLittle ? [...closes] : [],
      dropPagesFrom: this.#pages.staleFrom(this.#staging.repeated),
      doubt: this.#doubtOf(decision),
    };
    const ending = { state, fault, isInterrupted: false, ...traffic };
    const { runId, drift } = await this.#commit(AT_ONCE, rest, ending);
    return { ...run.counts, state, fault, runId, drift, missing: 0, missingIds: ids, readAgain };
  }

  /** A row is gone since the registry said so of it; the others since the end of the read. */
  *#closesOf({ close, goneAt }: Decision): Generator<Close> {
    const ended = formatInstant(this.#parts.now());
    for (const version of close.values()) {
      const at = goneAt.get(version);
      yield { version, told: at === undefined ? ended : formatInstant(at) };
    }
  }

  /** What is remembered of pages is dropped before the first row is closed. */
  async #writeInSlices(closes: Iterable<Close>): Promise<void> {
    await this.#applyAll();
    await this.#begin(0, { dropPagesFrom: this.#pages.staleFrom(this.#staging.repeated) });
    let slice: Close[] = [];
    for (const close of closes) {
      slice.push(close);
      if (slice.length < AT_ONCE) continue;
      await this.#begin(0, { closes: slice });
      slice = [];
    }
    await this.#begin(0, { closes: slice });
    await this.#underWay;
  }

  #doubtOf({ doubt }: Decision): Changes['doubt'] {
    if (doubt === undefined || (doubt === null && this.#parts.run.before.doubtedAt === null))
      return undefined;
    return doubt?.pack() ?? null;
  }
}
