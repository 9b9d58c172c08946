import { formatInstant } from '../../resources/columns.js';
import { setImmediate as pause } from 'node:timers/promises';
import type { ReadCompletion, ReadResult, ListReader, ReadPage } from '../mirror.js';
import { judgeRead } from './judging.js';
import type { Decision } from './missing.js';
import { isForgotten } from '../people.js';
import {
  type ListChanges,
  type RowClose,
  type SyncCompletion,
  type ReadFault,
  type RowKey,
  type LastRead,
  type ListCommitResult,
  NO_CHANGES,
  type ReadTraffic,
} from '../port.js';
import { PageDigests } from './page-digests.js';
import { type Portion, Slices } from './slices.js';
import { type ListParts, type Sighted, type Slice, Staging } from './staging.js';

const COMPARE_AT_ONCE = 250;

export class ListRead<Item extends { document: string }> implements ListReader<Item> {
  readonly before: LastRead;
  readonly #parts: ListParts<Item>;
  readonly #staging: Staging<Item>;
  readonly #slices: Slices;
  readonly #pages: PageDigests;
  /** Rows of pages that are compared together, by their names. */
  readonly #gathered = new Map<string, Sighted<Item>>();
  /** The last slice is under way while the next page is read. */
  #underWay: Promise<void> = Promise.resolve();

  constructor(parts: ListParts<Item>) {
    this.before = parts.sync.before;
    this.#pages = new PageDigests(parts.sync.before, parts.request.full === true);
    this.#parts = parts;
    this.#staging = new Staging(parts);
    this.#slices = new Slices(this.#staging);
  }

  get known(): PageDigests {
    return this.#pages;
  }

  async writePage(page: ReadPage<Item>): Promise<void> {
    this.#parts.sync.demandNotEnded();
    this.#staging.pass(this.#pages.take(page));
    this.#staging.demandDistinct(page.items);
    const observedAt = formatInstant(page.arrivedAt);
    const rows = page.items.map(item => ({ item, observedAt, name: this.#staging.nameOf(item) }));
    if (rows.some(({ name }) => this.#gathered.has(name))) await this.#compareGathered();
    for (const row of rows) this.#gathered.set(row.name, row);
    if (this.#gathered.size >= COMPARE_AT_ONCE) await this.#compareGathered();
    for (const portion of this.#slices.afterPage()) await this.#write(portion);
  }

  async settle(): Promise<number> {
    await this.#compareGathered();
    const { distinct, unreadable } = this.#staging;
    return distinct + unreadable.added + unreadable.withoutKey;
  }

  async leaveOut(keys: readonly (RowKey | null)[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#compareGathered();
    await this.#underWay;
    const readable = keys.filter(key => key !== null);
    this.#staging.unreadable.withoutKey += keys.length - readable.length;
    await this.#staging.keep(readable);
  }

  async #compareGathered(): Promise<void> {
    const rows = [...this.#gathered.values()];
    this.#gathered.clear();
    const before = this.#staging.distinct;
    await this.#compare(rows, true);
    this.#pages.repeated ||= this.#staging.distinct - before < rows.length;
  }

  async writeBatch(items: readonly Item[], arrivedAt: number): Promise<void> {
    this.#parts.sync.demandNotEnded();
    const observedAt = formatInstant(arrivedAt);
    const kept = await this.#notForgotten(items);
    await this.#compare(
      kept.map(item => ({ item, observedAt, name: this.#staging.nameOf(item) })),
      false,
    );
    for (const portion of this.#slices.afterBatch()) await this.#write(portion);
  }

  async finish({
    total,
    ask,
    flaw = null,
    unreadable = null,
    ...traffic
  }: ReadCompletion): Promise<ReadResult> {
    const { sync } = this.#parts;
    sync.demandNotEnded();
    await this.#compareGathered();
    await this.#underWay;
    const stand = { ...this.#parts, staging: this.#staging, pages: this.#pages };
    const { ownerNamed } = traffic;
    const decision = await judgeRead(stand, { total, ask, flaw, ownerNamed, unreadable });
    const { state, fault, readAgain } = decision;
    const rest = {
      closes: this.#closesOf(decision),
      closed: decision.close.size,
      doubt: this.#doubtOf(decision),
    };
    // Rows of pages that are remembered are passed, and the next read has to report these again.
    const pageDigests = unreadable === null ? this.#pages.seen(this.#staging.prints) : null;
    const known = fault ?? unreadable ?? this.#mendedBy();
    const ending = { state, fault: known, isInterrupted: false, pageDigests, ...traffic };
    for (const portion of this.#slices.atEnd(rest, ending)) await this.#write(portion);
    await this.#underWay;
    return { ...sync.counts, drift: sync.drift, state, fault: known, readAgain };
  }

  /** What went wrong with the slice under way is told by what is written next, or was told already. */
  async abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void> {
    await this.#underWay.catch(() => undefined);
    this.#staging.clear();
    await this.#parts.sync.abandon(fault, traffic);
  }

  /** What a read in full found that nobody but a hand can have changed. */
  #mendedBy(): ReadFault | null {
    const { mended, firstMended } = this.#staging;
    if (mended === 0) return null;
    const more = mended > firstMended.length ? ` and ${mended - firstMended.length} more` : '';
    const rows = `${firstMended.join('; ')}${more}`;
    return { code: 'mended', message: `changed by hand, and as the registry has it again: ${rows}` };
  }

  /** Waits for the slice before, whose fault it tells. The last one ends the sync. */
  async #write({ limit, rest, ending }: Portion): Promise<void> {
    await this.#underWay;
    await pause();
    const { port, sync, now } = this.#parts;
    const slice = this.#staging.take(limit);
    const { inserts, mends, projects } = slice;
    const changes = { ...NO_CHANGES, ...rest, inserts, mends, projects };
    const end = ending === undefined ? null : { ...ending, endedAt: now() };
    const committed = port.commit(sync.open(), changes, end);
    this.#underWay = committed.then(done => this.#written(slice, done, end));
    this.#underWay.catch(() => undefined);
  }

  /** What this read saw of a row is written before it is compared with what it sees of it now. */
  async #writeAll(): Promise<void> {
    for (const portion of this.#slices.all()) await this.#write(portion);
    await this.#underWay;
  }

  #written(slice: Slice, done: ListCommitResult, ending: SyncCompletion | null): void {
    this.#parts.sync.note(done, ending);
    this.#staging.written(slice, done.versions);
  }

  /** Without people who have asked to be forgotten. */
  async #notForgotten(items: readonly Item[]): Promise<readonly Item[]> {
    const { port, entry } = this.#parts;
    const email = entry.columns.find(cell => cell.name === 'email');
    if (email === undefined) return items;
    const { forgotten } = await port.readState();
    if (forgotten.size === 0) return items;
    return items.filter(item => {
      const address = email.getValue(item);
      return typeof address !== 'string' || !isForgotten(forgotten, address);
    });
  }

  async #compare(rows: readonly Sighted<Item>[], isPage: boolean): Promise<void> {
    for (let start = 0; start < rows.length; start += COMPARE_AT_ONCE) {
      if (start > 0) await pause();
      const some = rows.slice(start, start + COMPARE_AT_ONCE);
      if (isPage && this.#staging.holds(some)) await this.#writeAll();
      await this.#staging.compare(some, isPage);
    }
  }

  /** A row is gone since the registry answered so for it; the others since the end of the read. */
  *#closesOf({ close, goneAt }: Decision): Generator<RowClose> {
    const ended = this.#parts.now();
    for (const version of close.values())
      yield { version, observedAt: formatInstant(goneAt.get(version) ?? ended) };
  }

  #doubtOf({ doubt }: Decision): ListChanges['doubt'] {
    if (doubt === undefined || (doubt === null && this.#parts.sync.before.doubtedAt === null))
      return undefined;
    return doubt?.pack() ?? null;
  }
}
