import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { formatInstant } from '../../resources/sql-values.js';
import type { ReadCompletion, ReadResult, ListReader, ObservedPage } from '../mirror.js';
import { decideRemovals } from './decide-removals.js';
import type { RemovalDecision } from './missing-rows.js';
import { isForgotten } from '../forgotten-people.js';
import {
  type ListChanges,
  type RowRemoval,
  type RowKey,
  type ListCommitResult,
  NO_CHANGES,
} from '../port/rows.js';
import type { SyncCompletion } from '../port/sync.js';
import type { ReadFault, LastRead, ReadTraffic } from '../port/read.js';
import { PageDigests } from './page-digests.js';
import { type ScheduledWrite, WriteSchedule } from './write-schedule.js';
import { type ObservedRow, type ListReadOptions, ListComparison } from './list-comparison.js';
import { PendingWrites, type WriteBatch } from './pending-writes.js';

const ROWS_PER_COMPARISON = 250;

/**
 * Reads one list into the mirror: gathers the rows of pages, compares them with the stored rows, writes the differences
 * in transactions of limited size, and at the end removes rows that are certainly gone.
 */
export class MirrorListReader<Item extends { document: string }> implements ListReader<Item> {
  readonly previousRead: LastRead;
  readonly #options: ListReadOptions<Item>;
  readonly #comparison: ListComparison<Item>;
  readonly #pending = new PendingWrites();
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
    this.#comparison = new ListComparison(options, this.#pending);
    this.#schedule = new WriteSchedule(this.#pending);
  }

  /** The pages and row groups of the previous read, by their digests. */
  get known(): PageDigests {
    return this.#pages;
  }

  /**
   * Adds the rows of one page to the read. Compares rows and writes their changes once enough are gathered; `finish` does the
   * rest.
   */
  async writePage(page: ObservedPage<Item>): Promise<void> {
    this.#options.sync.assertNotEnded();
    this.#comparison.countSkipped(this.#pages.recordPage(page));
    const rows = this.#toObservedRows(page.items, page.arrivedAt);
    this.#comparison.assertDistinctKeys(rows);
    if (rows.some(({ keyText }) => this.#gathered.has(keyText))) await this.#compareGathered();
    for (const row of rows) this.#gathered.set(row.keyText, row);
    if (this.#gathered.size >= ROWS_PER_COMPARISON) await this.#compareGathered();
    for (const write of this.#schedule.planWritesAfterPage()) await this.#startWrite(write);
  }

  /**
   * Compares the gathered rows that were not compared yet. Returns how many rows this read has seen so far, including unreadable
   * rows.
   */
  async compareRemaining(): Promise<number> {
    await this.#compareGathered();
    const { distinctCount, unreadable } = this.#comparison;
    return distinctCount + unreadable.added + unreadable.withoutKey;
  }

  /**
   * Records rows whose content could not be parsed, so that this read does not remove them. A null in `keys` stands
   * for a row whose key is unreadable too.
   */
  async recordUnreadable(keys: readonly (RowKey | null)[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#compareGathered();
    await this.#commitInFlight;
    const readableKeys = keys.filter(key => key !== null);
    this.#comparison.unreadable.withoutKey += keys.length - readableKeys.length;
    await this.#comparison.addUnreadable(readableKeys);
  }

  /**
   * Compares the rows gathered from pages with the stored rows, and clears the gathered rows. Sets `hasRepeatedRow` of the page digests if
   * one of the rows was also on an earlier page.
   */
  async #compareGathered(): Promise<void> {
    const rows = [...this.#gathered.values()];
    this.#gathered.clear();
    const countBefore = this.#comparison.distinctCount;
    await this.#compareInChunks(rows, true);
    const newlySeen = this.#comparison.distinctCount - countBefore;
    // One of these rows was also on an earlier page.
    this.#pages.hasRepeatedRow ||= newlySeen < rows.length;
  }

  /**
   * Adds rows of an unpaginated list to the read: compares them with the stored rows and buffers the changes. Writes early if
   * there are many changes; `finish` writes the rest.
   */
  async writeBatch(items: readonly Item[], arrivedAt: number): Promise<void> {
    this.#options.sync.assertNotEnded();
    const allowedItems = await this.#withoutForgottenPeople(items);
    await this.#compareInChunks(this.#toObservedRows(allowedItems, arrivedAt), false);
    for (const write of this.#schedule.planWritesAfterBatch()) await this.#startWrite(write);
  }

  /**
   * Ends the read: compares the remaining rows, removes rows that the registry no longer has, and commits the remaining changes.
   * Returns the counts and the outcome of the read.
   */
  async finish(readCompletion: ReadCompletion): Promise<ReadResult> {
    const { total, lookUpMissing, flaw = null, unreadable = null, ...traffic } = readCompletion;
    const { sync } = this.#options;
    sync.assertNotEnded();
    await this.#compareGathered();
    await this.#commitInFlight;
    const finishedRead = { ...this.#options, comparison: this.#comparison, pages: this.#pages };
    const { answersNameOrganization } = traffic;
    const decision = await decideRemovals(finishedRead, {
      total,
      lookUpMissing,
      flaw,
      answersNameOrganization,
      unreadable,
    });
    const { state, readAgain } = decision;
    const fault = decision.fault ?? unreadable ?? this.#describeRepairs();
    const finalChanges = {
      removals: this.#createRemovals(decision),
      removalCount: decision.versionsToRemove.size,
      unconfirmedRemovals: this.#packUnconfirmedRemovals(decision),
    };
    // The next read must compare pages with unreadable rows again, to report those rows again.
    const pageDigests = unreadable === null ? this.#pages.serialize(this.#comparison.fingerprints) : null;
    const completion = { state, fault, isInterrupted: false, pageDigests, ...traffic };
    for (const write of this.#schedule.planLastWrites(finalChanges, completion))
      await this.#startWrite(write);
    await this.#commitInFlight;
    return { ...sync.counts, drift: sync.drift, state, fault, readAgain };
  }

  /**
   * Ends an unsuccessful read and its sync: discards the buffered row versions, and ends the sync as `partial` if rows were
   * written, otherwise as `failed`.
   */
  async abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void> {
    // A failure of this commit was already reported, or is reported by the write below.
    await this.#commitInFlight.catch(() => undefined);
    this.#pending.clear();
    await this.#options.sync.abandon(fault, traffic);
  }

  /** Adds the key and the arrival time to each item. */
  #toObservedRows(items: readonly Item[], arrivedAt: number): ObservedRow<Item>[] {
    const observedAt = formatInstant(arrivedAt);
    return items.map(item => this.#comparison.toObservedRow(item, observedAt));
  }

  /**
   * Returns a notice that names the rows whose column values were changed by hand and are now restored. Null if there are
   * none.
   */
  #describeRepairs(): ReadFault | null {
    const { repairedCount, firstRepaired } = this.#comparison;
    if (repairedCount === 0) return null;
    const unnamedCount = repairedCount - firstRepaired.length;
    const more = unnamedCount > 0 ? ` and ${unnamedCount} more` : '';
    const message = `changed by hand, now restored: ${firstRepaired.join('; ')}${more}`;
    return { code: 'mended', message };
  }

  /**
   * Starts the transaction of a scheduled write and returns before it commits. First waits for the previous transaction, and
   * throws its error if it failed.
   */
  async #startWrite({ limit, otherChanges, completion }: ScheduledWrite): Promise<void> {
    await this.#commitInFlight;
    await yieldToEventLoop();
    const { port, sync, now } = this.#options;
    const batch = this.#pending.takeBatch(limit);
    const { inserts, repairs, projects } = batch;
    const changes = { ...NO_CHANGES, ...otherChanges, inserts, repairs, projects };
    const ended = completion === undefined ? null : { ...completion, endedAt: now() };
    const commit = port.commit(sync.toOpenSync(), changes, ended);
    this.#commitInFlight = commit.then(result => this.#recordCommit(batch, result, ended));
    // The next write reports the error; without a handler until then the process would stop.
    this.#commitInFlight.catch(() => undefined);
  }

  /** Writes all buffered row versions to the database, and waits until they are committed. */
  async #writeAllPending(): Promise<void> {
    for (const write of this.#schedule.planAllWrites()) await this.#startWrite(write);
    await this.#commitInFlight;
  }

  /**
   * Records a successful commit: adds its counts to the sync and removes its rows from the buffer. `completion` is null unless
   * the commit ended the sync.
   */
  #recordCommit(batch: WriteBatch, result: ListCommitResult, completion: SyncCompletion | null): void {
    this.#options.sync.recordCommit(result, completion);
    this.#pending.confirmWritten(batch);
    this.#comparison.recordWritten(batch.inserts, result.versions);
  }

  /** Returns the items without those whose email address belongs to a person who asked to be forgotten. */
  async #withoutForgottenPeople(items: readonly Item[]): Promise<readonly Item[]> {
    const { port, entry } = this.#options;
    const emailColumn = entry.columns.find(column => column.name === 'email');
    if (emailColumn === undefined) return items;
    const { forgotten } = await port.readMirrorState();
    if (forgotten.size === 0) return items;
    return items.filter(item => {
      const email = emailColumn.getValue(item);
      return typeof email !== 'string' || !isForgotten(forgotten, email);
    });
  }

  /**
   * Compares rows with the stored rows, 250 at a time, and buffers the differences. If the list is paginated and the buffer
   * contains one of the rows, writes the buffer first.
   */
  async #compareInChunks(rows: readonly ObservedRow<Item>[], isPaginated: boolean): Promise<void> {
    for (let start = 0; start < rows.length; start += ROWS_PER_COMPARISON) {
      if (start > 0) await yieldToEventLoop();
      const chunk = rows.slice(start, start + ROWS_PER_COMPARISON);
      // A row that was also on an earlier page must be written before it is compared again.
      const hasPending = chunk.some(({ keyText }) => this.#pending.has(keyText));
      if (isPaginated && hasPending) await this.#writeAllPending();
      await this.#comparison.compare(chunk, isPaginated);
    }
  }

  /** Yields the rows that the registry no longer has, each with the instant at which it counts as removed. */
  *#createRemovals({ versionsToRemove, goneAt }: RemovalDecision): Generator<RowRemoval> {
    // Without an instant from a lookup, the row counts as removed at the end of the read.
    const endedAt = this.#options.now();
    for (const version of versionsToRemove.values()) {
      yield { version, observedAt: formatInstant(goneAt.get(version) ?? endedAt) };
    }
  }

  /**
   * Serializes the removals that the next read must confirm. Returns undefined to keep the stored removals, or null to clear
   * them.
   */
  #packUnconfirmedRemovals({ unconfirmedRemovals }: RemovalDecision): ListChanges['unconfirmedRemovals'] {
    const { doubtedAt } = this.#options.sync.previousState;
    if (unconfirmedRemovals === undefined || (unconfirmedRemovals === null && doubtedAt === null))
      return undefined;
    return unconfirmedRemovals?.pack() ?? null;
  }
}
