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
  readonly previous: number | null;
  readonly page: HeldPage | null;
  readonly slot: number;
}

interface Origin {
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
  readonly page: HeldPage | null;
  readonly slot: number;
}

/** Compares what was read with what is there, holds back the differences and writes them when told to. */
export class Staging<Item extends { document: string }> {
  /** The current version of every row that was seen and is written. */
  readonly seen = new VersionSet();
  distinct = 0;
  repeated = 0;
  /** Rows that were seen and are not written yet, changed ones left out. */
  #waitingNew = 0;
  readonly #staged = new Map<string, Staged<Item>>();
  readonly #parts: ListParts<Item>;

  constructor(parts: ListParts<Item>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#staged.size;
  }

  /** How many of the rows that are there were not seen. */
  get unseen(): number {
    const { before, counts } = this.#parts.run;
    return before.rows + counts.added - counts.removed - (this.distinct - this.#waitingNew);
  }

  clear(): void {
    this.#staged.clear();
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

  compare(items: readonly Item[], { page, start, likely }: Origin): void {
    const find = this.#lookUp(items, likely);
    for (const [index, item] of items.entries()) {
      const name = nameOf(this.#parts.rows.keyOf(item));
      this.#compareOne({ item, name, there: find(item, name), page, slot: start + index });
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

  #compareOne({ item, name, there, page, slot }: Compared<Item>): void {
    const { run } = this.#parts;
    const staged = this.#staged.get(name);
    const stored = staged === undefined ? there : undefined;
    this.#count(staged !== undefined || (stored !== undefined && this.seen.has(stored.version)), page);
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
    this.#staged.set(name, { item, previous, page, slot });
  }

  /** Inside a transaction: writes up to `limit` of the differences. */
  apply(runId: number, limit: number): Pick<Counts, 'added' | 'changed'> {
    const { books, companion, request } = this.#parts;
    const slice = [...this.#staged].slice(0, limit);
    const counts = { added: 0, changed: 0 };
    if (slice.length === 0) return counts;
    let version = books.versions(slice.length);
    companion.begin();
    for (const [name, staged] of slice) {
      counts[this.#put(version, staged, runId)] += 1;
      this.#settle(name, staged, version);
      version += 1;
    }
    companion.flush(request.organizationId);
    return counts;
  }

  #put(version: number, { item, previous }: Staged<Item>, runId: number): 'added' | 'changed' {
    const { rows, companion, request, run, descriptor, noteProject } = this.#parts;
    if (previous !== null) companion.leave(previous);
    const wasThere = previous !== null && rows.close(previous, run.stamp, runId);
    companion.enter(item);
    rows.insert(version, request.organizationId, item, run.stamp, runId);
    const project = descriptor.projectOf(item);
    if (project !== null) noteProject(project.id);
    return wasThere ? 'changed' : 'added';
  }

  #settle(name: string, { page, slot, previous }: Staged<Item>, version: number): void {
    this.seen.add(version);
    if (page !== null) {
      page.versions[slot] = version;
      page.waiting -= 1;
    }
    if (previous === null) this.#waitingNew -= 1;
    this.#staged.delete(name);
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
