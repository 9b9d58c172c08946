import type { Counts } from './books.js';
import { MirrorError } from './errors.js';
import type { ListParts } from './parts.js';
import { nameOf, type Stored } from './rows.js';
import { VersionSet } from './version-set.js';

/** A page whose digest is to be remembered once all its rows have their versions. */
export interface HeldPage {
  readonly number: number;
  readonly digest: string;
  readonly versions: number[];
  waiting: number;
}

interface Staged<Item> {
  readonly item: Item;
  /** When the answer came that showed it. */
  readonly told: string;
  /** The version that it takes the place of. */
  readonly previous: number | null;
  /** What this read saw of the same row before and has not written yet. */
  readonly earlier: Staged<Item> | null;
  readonly isRepeated: boolean;
  readonly page: HeldPage | null;
  readonly slot: number;
}

export interface Origin {
  readonly told: string;
  readonly page: HeldPage | null;
  /** The place of the first of the items on its page. */
  readonly start: number;
  /** Versions among which the items may be found. */
  readonly likely: readonly number[];
}

interface Compared<Item> {
  readonly item: Item;
  readonly name: string;
  readonly there: Stored | undefined;
  readonly told: string;
  readonly page: HeldPage | null;
  readonly slot: number;
}

/** What one transaction writes: its counts, its run and the next version number. */
interface Writes {
  readonly counts: Pick<Counts, 'added' | 'changed'>;
  readonly runId: number;
  version: number;
}

/** Compares what was read with what is there, holds back the differences and writes them when told to. */
export class Staging<Item extends { document: string }> {
  /** The current version of every row that was seen and is written. */
  readonly seen = new VersionSet();
  distinct = 0;
  repeated = 0;
  /** Rows that were seen and are not written yet, changed ones left out. */
  #waitingNew = 0;
  #length = 0;
  readonly #staged = new Map<string, Staged<Item>>();
  readonly #parts: ListParts<Item>;

  constructor(parts: ListParts<Item>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#staged.size;
  }

  /** Characters of the documents that are held back. */
  get length(): number {
    return this.#length;
  }

  /** How many of the rows that are there were not seen. */
  get unseen(): number {
    const { before, counts } = this.#parts.run;
    return before.rows + counts.added - counts.removed - (this.distinct - this.#waitingNew);
  }

  clear(): void {
    this.#staged.clear();
    this.#length = 0;
  }

  /** One page or one answer must not hold two rows with one key. */
  demandDistinct(items: readonly Item[]): void {
    const names = new Set(items.map(item => nameOf(this.#parts.rows.keyOf(item))));
    if (names.size < items.length) throw this.#duplicate();
  }

  see(versions: readonly number[]): void {
    for (const version of versions) this.seen.add(version);
    this.distinct += versions.length;
    this.#parts.run.counts.unchanged += versions.length;
  }

  compare(items: readonly Item[], { told, page, start, likely }: Origin): void {
    const find = this.#lookUp(items, likely);
    for (const [index, item] of items.entries()) {
      const name = nameOf(this.#parts.rows.keyOf(item));
      this.#compareOne({ item, name, there: find(item, name), told, page, slot: start + index });
    }
  }

  /** To find a row by its version costs a third of finding it by its key. Where documents are equal, so are keys. */
  #lookUp(
    items: readonly Item[],
    likely: readonly number[],
  ): (item: Item, name: string) => Stored | undefined {
    const { rows, request } = this.#parts;
    const same = new Map(rows.among(request.organizationId, likely).map(row => [row.document, row]));
    const others = items.filter(item => !same.has(item.document));
    const there = rows.find(
      request.organizationId,
      others.map(item => rows.keyOf(item)),
    );
    return (item, name) => same.get(item.document) ?? there.get(name);
  }

  #compareOne({ item, name, there, told, page, slot }: Compared<Item>): void {
    const { run } = this.#parts;
    const staged = this.#staged.get(name);
    const stored = staged === undefined ? there : undefined;
    const isRepeated = staged !== undefined || (stored !== undefined && this.seen.has(stored.version));
    this.#count(isRepeated, page);
    if (stored !== undefined) this.seen.add(stored.version);
    if (stored?.document === item.document) {
      run.counts.unchanged += 1;
      if (page !== null) page.versions[slot] = stored.version;
      return;
    }
    const previous = staged?.previous ?? stored?.version ?? null;
    if (staged === undefined && previous === null) this.#waitingNew += 1;
    if (page !== null) page.waiting += 1;
    if (staged?.page) staged.page.waiting -= 1;
    if (staged?.item.document === item.document) {
      this.#staged.set(name, { ...staged, page, slot });
      return;
    }
    this.#length += item.document.length;
    this.#staged.set(name, { item, told, previous, earlier: staged ?? null, isRepeated, page, slot });
  }

  /** Inside a transaction: writes up to `limit` of the differences. */
  apply(runId: number, limit: number): Pick<Counts, 'added' | 'changed'> {
    const { books, companion, request } = this.#parts;
    const slice = [...this.#staged].slice(0, limit);
    const counts = { added: 0, changed: 0 };
    if (slice.length === 0) return counts;
    const writes = { counts, runId, version: books.versions(lengthOf(slice)) };
    companion.begin();
    const isAdmitted = this.#parts.admits();
    for (const [name, staged] of slice) {
      if (isWholly(staged, isAdmitted)) this.#settle(staged, this.#put(staged, writes));
      this.#drop(name, staged);
    }
    companion.flush(request.organizationId);
    return counts;
  }

  /** Answers the version that it became. */
  #put(staged: Staged<Item>, writes: Writes): number {
    const { item, earlier } = staged;
    const { rows, companion, request, descriptor, noteProject } = this.#parts;
    const previous = earlier === null ? staged.previous : this.#put(earlier, writes);
    const at = this.#date(staged, previous);
    if (previous !== null) companion.leave(previous);
    const wasThere = previous !== null && rows.close(previous, at, writes.runId);
    const version = writes.version++;
    companion.enter(item);
    rows.insert(version, request.organizationId, item, at, writes.runId);
    const project = descriptor.projectOf(item);
    if (project !== null) noteProject(project.id);
    writes.counts[wasThere ? 'changed' : 'added'] += 1;
    return version;
  }

  #date({ item, told, isRepeated }: Staged<Item>, previous: number | null): string {
    const { rows, request, run } = this.#parts;
    if (!isRepeated && run.dates.isAfterAll(told)) return run.dates.give(told, null);
    const before =
      previous === null ? rows.lastEnd(request.organizationId, rows.keyOf(item)) : rows.validFrom(previous);
    return run.dates.give(told, before);
  }

  #drop(name: string, staged: Staged<Item>): void {
    for (let one: Staged<Item> | null = staged; one !== null; one = one.earlier)
      this.#length -= one.item.document.length;
    this.#staged.delete(name);
  }

  #settle({ page, slot, previous }: Staged<Item>, version: number): void {
    this.seen.add(version);
    if (page !== null) {
      page.versions[slot] = version;
      page.waiting -= 1;
    }
    if (previous === null) this.#waitingNew -= 1;
  }

  #count(isRepeated: boolean, page: HeldPage | null): void {
    if (!isRepeated) {
      this.distinct += 1;
      return;
    }
    if (page === null) throw this.#duplicate();
    this.repeated += 1;
  }

  #duplicate(): MirrorError {
    return new MirrorError('duplicate_key', `two ${this.#parts.descriptor.table} with one key in one answer`);
  }
}

/** Somebody may have asked to be forgotten since the answer came. */
function isWholly<Item>({ item, earlier }: Staged<Item>, isAdmitted: (item: Item) => boolean): boolean {
  return isAdmitted(item) && (earlier === null || isWholly(earlier, isAdmitted));
}

/** How many versions come of so many rows. */
function lengthOf(slice: readonly (readonly [string, Staged<unknown>])[]): number {
  return slice.reduce((length, [, staged]) => length + depthOf(staged), 0);
}

function depthOf({ earlier }: Staged<unknown>): number {
  return earlier === null ? 1 : 1 + depthOf(earlier);
}
