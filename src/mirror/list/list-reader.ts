import { formatInstant } from '../../resources/columns.js';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ReadCompletion, ReadResult, ListReader, ObservedPage } from '../mirror.js';
import { decideRemovals } from './decide-removals.js';
import type { RemovalDecision } from './removal-decision.js';
import { isForgotten } from '../forgotten-people.js';
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
import { type ScheduledWrite, WriteSchedule } from './write-schedule.js';
import {
  type ListReadOptions,
  type ObservedRow,
  type WriteBatch,
  ListComparison,
} from './list-comparison.js';

const ROWS_PER_COMPARISON = 250;

/**
 * Reads one list into the mirror: gathers the rows of pages, compares them with the stored rows, writes the differences
 * in transactions of limited size, and at the end closes rows that are certainly gone.
 */
export class MirrorListReader<Item extends { document: string }> implements ListReader<Item> {
  readonly previousRead: LastRead;
  readonly #options: ListReadOptions<Item>;
  readonly #comparison: ListComparison<Item>;
  readonly #schedule: WriteSchedule;
  readonly #pages: PageDigests;
  /** Rows of pages that will be compared together, by their key texts. */
  readonly #gathered = new Map<string, ObservedRow<Item>>();
  /** The commit that is in flight while the next page is read. */
  #commitInFlight: Promise<void> = Promise.resolve();

  constructor(options: ListReadOptions<Item>) {
    this.previousRead = options.sync.previousState;
    this.#pages = new PageDigests(options.sync.previousState, options.request.full === true);
    this.#options = options;
    this.#comparison = new ListComparison(options);
    this.#schedule = new WriteSchedule(this.#comparison);
  }

  /** The pages and row groups of the previous read, by their digests. */
  get known(): PageDigests {
    return this.#pages;
  }

  /** Takes a page: skips its unchanged rows, gathers the others for comparison, and starts writes that are due. */
  async writePage(page: ObservedPage<Item>): Promise<void> {
    this.#options.sync.assertNotEnded();
    this.#comparison.countSkipped(this.#pages.recordPage(page));
    this.#comparison.assertDistinctKeys(page.items);
    const rows = this.#toObservedRows(page.items, page.arrivedAt);
    if (rows.some(({ keyText }) => this.#gathered.has(keyText))) await this.#compareGathered();
    for (const row of rows) this.#gathered.set(row.keyText, row);
    if (this.#gathered.size >= ROWS_PER_COMPARISON) await this.#compareGathered();
    for (const write of this.#schedule.planWritesAfterPage()) await this.#startWrite(write);
  }

  /** Compares the gathered rows that are left. Returns how many rows this read has seen, unreadable ones included. */
  async compareRemaining(): Promise<number> {
    await this.#compareGathered();
    const { distinctCount, unreadable } = this.#comparison;
    return distinctCount + unreadable.added + unreadable.withoutKey;
  }

  /** Records the keys of unreadable rows, null for a row without a readable key. Stored rows with these keys stay. */
  async recordUnreadable(keys: readonly (RowKey | null)[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#compareGathered();
    await this.#commitInFlight;
    const readableKeys = keys.filter(key => key !== null);
    this.#comparison.unreadable.withoutKey += keys.length - readableKeys.length;
    await this.#comparison.addUnreadable(readableKeys);
  }

  /** Compares the gathered rows, and records whether one of them was already seen on an earlier page. */
  async #compareGathered(): Promise<void> {
    const rows = [...this.#gathered.values()];
    this.#gathered.clear();
    const countBefore = this.#comparison.distinctCount;
    await this.#compareInChunks(rows, true);
    const newlySeen = this.#comparison.distinctCount - countBefore;
    this.#pages.hasRepeatedRow ||= newlySeen < rows.length;
  }

  /** Takes a part of a single answer: compares its rows, except those of forgotten people, and starts writes that are due. */
  async writeBatch(items: readonly Item[], arrivedAt: number): Promise<void> {
    this.#options.sync.assertNotEnded();
    const allowedItems = await this.#withoutForgottenPeople(items);
    await this.#compareInChunks(this.#toObservedRows(allowedItems, arrivedAt), false);
    for (const write of this.#schedule.planWritesAfterBatch()) await this.#startWrite(write);
  }

  /** Decides which rows are gone, writes all remaining changes, ends the sync, and returns what the read changed. */
  async finish({
    total,
    findGone,
    flaw = null,
    unreadable = null,
    ...traffic
  }: ReadCompletion): Promise<ReadResult> {
    const { sync } = this.#options;
    sync.assertNotEnded();
    await this.#compareGathered();
    await this.#commitInFlight;
    const finishedRead = { ...this.#options, comparison: this.#comparison, pages: this.#pages };
    const { ownerNamed } = traffic;
    const decision = await decideRemovals(finishedRead, { total, findGone, flaw, ownerNamed, unreadable });
    const { state, readAgain } = decision;
    const fault = decision.fault ?? unreadable ?? this.#describeRepairs();
    const finalChanges = {
      closes: this.#createCloses(decision),
      closeCount: decision.versionsToClose.size,
      doubt: this.#packDoubt(decision),
    };
    // The next read must compare pages with unreadable rows again, to report those rows again.
    const pageDigests = unreadable === null ? this.#pages.serialize(this.#comparison.fingerprints) : null;
    const completion = { state, fault, isInterrupted: false, pageDigests, ...traffic };
    for (const write of this.#schedule.planLastWrites(finalChanges, completion))
      await this.#startWrite(write);
    await this.#commitInFlight;
    return { ...sync.counts, drift: sync.drift, state, fault, readAgain };
  }

  /** Ends the sync as partial or failed. Differences that are not written yet are dropped. */
  async abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void> {
    // A failure of this commit was already reported, or is reported by the write below.
    await this.#commitInFlight.catch(() => undefined);
    this.#comparison.clear();
    await this.#options.sync.abandon(fault, traffic);
  }

  /** Converts the items of an answer to observed rows, which have a key text and the instant of the answer. */
  #toObservedRows(items: readonly Item[], arrivedAt: number): ObservedRow<Item>[] {
    const observedAt = formatInstant(arrivedAt);
    return items.map(item => ({ item, observedAt, keyText: this.#comparison.toKeyText(item) }));
  }

  /** Returns a fault that names the rows which were changed by hand and are now repaired; null if there are none. */
  #describeRepairs(): ReadFault | null {
    const { repairedCount, firstRepaired } = this.#comparison;
    if (repairedCount === 0) return null;
    const unnamedCount = repairedCount - firstRepaired.length;
    const more = unnamedCount > 0 ? ` and ${unnamedCount} more` : '';
    const message = `changed by hand, now restored: ${firstRepaired.join('; ')}${more}`;
    return { code: 'mended', message };
  }

  /**
   * Starts a commit without waiting for its end, so that the next page can be read meanwhile. Waits for the previous
   * commit first, and throws its error. A write with a completion ends the sync.
   */
  async #startWrite({ limit, otherChanges, completion }: ScheduledWrite): Promise<void> {
    await this.#commitInFlight;
    await yieldToEventLoop();
    const { port, sync, now } = this.#options;
    const batch = this.#comparison.takeBatch(limit);
    const { inserts, repairs, projects } = batch;
    const changes = { ...NO_CHANGES, ...otherChanges, inserts, repairs, projects };
    const ended = completion === undefined ? null : { ...completion, endedAt: now() };
    const commit = port.commit(sync.toOpenSync(), changes, ended);
    this.#commitInFlight = commit.then(result => this.#recordCommit(batch, result, ended));
    // The next write reports the error; without a handler until then the process would stop.
    this.#commitInFlight.catch(() => undefined);
  }

  /** Writes all pending differences and waits until they are committed. */
  async #writeAllPending(): Promise<void> {
    for (const write of this.#schedule.planAllWrites()) await this.#startWrite(write);
    await this.#commitInFlight;
  }

  /** Adds the result of a commit to the counts of the sync, and passes the new versions to the comparison. */
  #recordCommit(batch: WriteBatch, result: ListCommitResult, completion: SyncCompletion | null): void {
    this.#options.sync.recordCommit(result, completion);
    this.#comparison.confirmWritten(batch, result.versions);
  }

  /** Returns the items without those of people who asked to be forgotten. */
  async #withoutForgottenPeople(items: readonly Item[]): Promise<readonly Item[]> {
    const { port, entry } = this.#options;
    const emailColumn = entry.columns.find(column => column.name === 'email');
    if (emailColumn === undefined) return items;
    const { forgotten } = await port.readState();
    if (forgotten.size === 0) return items;
    return items.filter(item => {
      const email = emailColumn.getValue(item);
      return typeof email !== 'string' || !isForgotten(forgotten, email);
    });
  }

  /** Compares rows a few hundred at a time. A row that came on an earlier page too is written before it is compared again. */
  async #compareInChunks(rows: readonly ObservedRow<Item>[], isPaginated: boolean): Promise<void> {
    for (let start = 0; start < rows.length; start += ROWS_PER_COMPARISON) {
      if (start > 0) await yieldToEventLoop();
      const chunk = rows.slice(start, start + ROWS_PER_COMPARISON);
      if (isPaginated && this.#comparison.hasPending(chunk)) await this.#writeAllPending();
      await this.#comparison.compare(chunk, isPaginated);
    }
  }

  /** Yields a close for each row that is gone. It is dated when the registry said so, or else at the end of the read. */
  *#createCloses({ versionsToClose, goneAt }: RemovalDecision): Generator<RowClose> {
    const endedAt = this.#options.now();
    for (const version of versionsToClose.values()) {
      yield { version, observedAt: formatInstant(goneAt.get(version) ?? endedAt) };
    }
  }

  /** Returns the unconfirmed removals to store, packed. Null clears the stored ones, undefined leaves them. */
  #packDoubt({ doubt }: RemovalDecision): ListChanges['doubt'] {
    const { doubtedAt } = this.#options.sync.previousState;
    if (doubt === undefined || (doubt === null && doubtedAt === null)) return undefined;
    return doubt?.pack() ?? null;
  }
}
