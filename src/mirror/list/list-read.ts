import { formatInstant } from '../../resources/columns.js';
import { HeldPage } from './held-page.js';
import { digestOf, HeldPages } from './held-pages.js';
import { setImmediate as pause } from 'node:timers/promises';
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
import { isForgotten } from '../people.js';
import type { Changes, Close, Fault, LastRead, Traffic } from '../port.js';
import { Slices } from './slices.js';
import { type ListParts, type Origin, Staging } from './staging.js';
import { VersionSet } from './version-set.js';

const COMPARE_AT_ONCE = 250;

const NOTHING_MISSING: Missing = { versions: NONE, first: new Map() };

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
  readonly #slices: Slices<Item>;

  constructor(parts: ListParts<Item>) {
    const { port, list, run } = parts;
    this.before = run.before.last;
    this.#parts = parts;
    this.#staging = new Staging(parts);
    this.#pages = new HeldPages(port, list, run.before.rows > 0 && !run.before.isBroken);
    this.#slices = new Slices(parts, this.#staging, this.#pages);
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
    await this.#slices.showPage();
    return result;
  }

  async writeBatch(items: readonly Item[], arrivedAt: number): Promise<PageResult> {
    this.#parts.run.demandNotEnded();
    const told = formatInstant(arrivedAt);
    const result = await this.#compare(await this.#admitted(items), { told, page: null, likely: [] });
    await this.#slices.showBatch();
    return result;
  }

  async finish({ total, ask, flaw = null, ...traffic }: Finish): Promise<Outcome> {
    const { run } = this.#parts;
    run.demandNotEnded();
    await this.#slices.last;
    const { decision, missing } = await this.#judge(total, flaw, ask, traffic);
    const { state, fault, readAgain } = decision;
    const rest = {
      closes: this.#closesOf(decision),
      closed: decision.close.size,
      dropPagesFrom: this.#pages.staleFrom(this.#staging.repeated),
      doubt: this.#doubtOf(decision),
    };
    await this.#slices.end(rest, { state, fault, isInterrupted: false, ...traffic });
    return {
      ...run.counts,
      drift: run.drift,
      state,
      fault,
      readAgain,
      missing: missing.versions.size - run.counts.removed,
      missingIds: [...missing.first.keys()],
    };
  }

  async #judge(
    total: number | null,
    flaw: Fault | null,
    ask: Finish['ask'],
    traffic: Traffic,
  ): Promise<{ readonly decision: Decision; readonly missing: Missing }> {
    const { port, list } = this.#parts;
    const seen = this.#staging.distinct;
    if (flaw !== null) return { decision: partial(flaw), missing: NOTHING_MISSING };
    if (total !== null && total !== seen) {
      const message = `the registry counts ${total} rows, this read saw ${seen}`;
      const decision = { ...partial({ code: 'total_differs', message }), readAgain: true };
      return { decision, missing: NOTHING_MISSING };
    }
    if (this.#staging.unseen === 0) return { decision: COMPLETE, missing: NOTHING_MISSING };
    const missing = await findMissing(port, list, this.#staging.seen);
    return { decision: await this.#decide(missing, ask, traffic), missing };
  }

  /** An answer that lacks rows and does not say whose it is, where others did, may be anybody's. */
  async #decide(missing: Missing, ask: Finish['ask'], { ownerTold }: Traffic): Promise<Decision> {
    if (missing.versions.size === 0) return COMPLETE;
    if (ownerTold === undefined && this.#parts.run.before.isOwnerTold) return partial(OWNER_UNTOLD);
    return decide(missing, this.#circumstances(ask));
  }

  /** What went wrong with the slice under way is told by what is written next, or was told already. */
  async abandon(fault: Fault, traffic: Traffic): Promise<void> {
    await this.#slices.last.catch(() => undefined);
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
      if (this.#staging.isLeaving(some)) await this.#slices.last;
      await this.#staging.compare(some, { ...origin, start });
    }
    const fresh = this.#staging.distinct - before;
    return { fresh, repeated: items.length - fresh };
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

  /** A row is gone since the registry said so of it; the others since the end of the read. */
  *#closesOf({ close, goneAt }: Decision): Generator<Close> {
    const ended = formatInstant(this.#parts.now());
    for (const version of close.values()) {
      const at = goneAt.get(version);
      yield { version, told: at === undefined ? ended : formatInstant(at) };
    }
  }

  #doubtOf({ doubt }: Decision): Changes['doubt'] {
    if (doubt === undefined || (doubt === null && this.#parts.run.before.doubtedAt === null))
      return undefined;
    return doubt?.pack() ?? null;
  }
}
