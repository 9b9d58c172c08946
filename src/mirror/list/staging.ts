import { MirrorError } from '../errors.js';
import type { Cells, Changes, Insert, Key, List, MirrorPort, SyncRequest, StoredRow } from '../port.js';
import { createIdSet, hashId, type IdSet } from '../../registry/pages/id-set.js';
import { textOf } from '../../resources/columns.js';
import type { ListEntry } from '../../resources/entry.js';
import type { Sync } from '../sync.js';
import { VersionSet } from './version-set.js';

const NAMED_AT_MOST = 3;

/** What a read of one list works with. */
export interface ListParts<Item> {
  readonly port: MirrorPort;
  readonly request: SyncRequest;
  readonly list: List;
  readonly sync: Sync;
  readonly entry: ListEntry<Item>;
  readonly now: () => number;
}

/** Differences on their way to the mirror. */
export interface Slice extends Pick<Changes, 'inserts' | 'mends' | 'projects'> {
  /** Of the inserts, one each. */
  readonly names: readonly string[];
}

interface Staged {
  readonly insert: Insert;
  readonly project: string | null;
}

/** A row as an answer showed it. */
export interface Sighted<Item> {
  readonly item: Item;
  readonly name: string;
  readonly observedAt: string;
}

interface Compared<Item> extends Sighted<Item> {
  readonly key: Key;
  readonly there: StoredRow | undefined;
  readonly isSame: boolean;
}

/** Compares what was read with what is there, and holds back the differences until they are written. */
export class Staging<Item extends { document: string }> {
  /** The current version of every row that was seen and is written. */
  readonly seen = new VersionSet();
  distinct = 0;
  /** Unreadable rows that are no known row: new ones, and those whose keys cannot be read. */
  readonly unreadable = { added: 0, withoutKey: 0 };
  /** Sums of the fingerprints of keys on pages: of rows that were there, and of new ones. */
  readonly prints = { there: 0, added: 0 };
  /** Rows that were seen and are not written yet, changed ones left out. */
  #waitingNew = 0;
  #length = 0;
  readonly #staged = new Map<string, Staged>();
  /** What is being written at this moment. */
  readonly #leaving = new Set<string>();
  readonly #projects = new Set<string>();
  /** What was changed by hand, as it should be. */
  #mends: Cells[] = [];
  /** How many rows that was, and which the first of them were. */
  mended = 0;
  readonly firstMended: string[] = [];
  /** The keys of this read where nothing was there before it; null where there are rows to be found. */
  readonly #own: IdSet | null;
  readonly #parts: ListParts<Item>;

  constructor(parts: ListParts<Item>) {
    this.#parts = parts;
    this.#own = parts.sync.before.rows === 0 ? createIdSet() : null;
  }

  /** Differences that wait to be written. */
  get size(): number {
    return this.#staged.size - this.#leaving.size;
  }

  /** Rows that wait to be restored. */
  get mends(): number {
    return this.#mends.length;
  }

  /** Characters of the documents that are held back. */
  get length(): number {
    return this.#length;
  }

  /** How many of the rows that are there were not seen. */
  get unseen(): number {
    const { before, counts } = this.#parts.sync;
    return before.rows + counts.added - (this.distinct - this.#waitingNew);
  }

  clear(): void {
    this.#staged.clear();
    this.#leaving.clear();
    this.#length = 0;
  }

  /** One page or one answer must not hold two rows with one key. */
  demandDistinct(items: readonly Item[]): void {
    const names = new Set(items.map(item => this.nameOf(item)));
    if (names.size < items.length) throw this.#duplicate();
  }

  /** So many rows that stand as they stood; which is not known. */
  pass(rows: number): void {
    this.distinct += rows;
    this.#parts.sync.noteUnchanged(rows);
  }

  /** Whether one of them waits to be written: a row that is seen twice is written twice, one after the other. */
  holds(rows: readonly Sighted<Item>[]): boolean {
    return this.#staged.size > 0 && rows.some(({ name }) => this.#staged.has(name));
  }

  /** A row may come again on a later page (`isPage`); in one answer it may not. */
  async compare(rows: readonly Sighted<Item>[], isPage: boolean): Promise<void> {
    const keys = rows.map(({ item }) => this.#keyOf(item));
    const found = await this.#find(keys.filter(key => this.#mayBeThere(key)));
    const standing: { item: Item; there: StoredRow }[] = [];
    for (const [index, row] of rows.entries()) {
      const { item, name } = row;
      const there = found.get(name);
      const isSame = there?.document === item.document;
      if (isSame) standing.push({ item, there });
      this.#compareOne({ ...row, key: keys[index] ?? [], there, isSame }, isPage);
    }
    this.#parts.sync.noteUnchanged(standing.length);
    if (this.#parts.request.full) this.#mend(standing);
  }

  /** Where the document is as it came, each column is what was taken from it, or was changed by hand. */
  #mend(standing: readonly { readonly item: Item; readonly there: StoredRow }[]): void {
    const { columns } = this.#parts.entry;
    for (const { item, there } of standing) {
      const { version, key, cells } = there;
      const right = columns.map(cell => cell.of(item));
      const wrong = columns.filter((_, index) => textOf(cells[index]) !== textOf(right[index]));
      if (wrong.length === 0) continue;
      this.#mends.push({ version, cells: right });
      this.mended += 1;
      if (this.firstMended.length === NAMED_AT_MOST) continue;
      this.firstMended.push(`${key.join(', ')} (${wrong.map(({ name }) => name).join(', ')})`);
    }
  }

  async #find(keys: readonly Key[]): Promise<ReadonlyMap<string, StoredRow>> {
    const { port, list, request } = this.#parts;
    const found = keys.length === 0 ? [] : await port.find(list, keys, request.full);
    return new Map(found.map(row => [nameOf(row.key), row]));
  }

  #compareOne({ item, key, name, there, isSame, observedAt }: Compared<Item>, isPage: boolean): void {
    if (this.#staged.has(name)) throw this.#duplicate();
    const isRepeated = there !== undefined && this.seen.has(there.version);
    this.#count(isRepeated, isPage);
    if (isPage) this.prints[there === undefined ? 'added' : 'there'] += hashId(name);
    if (there !== undefined) this.seen.add(there.version);
    if (isSame) return;
    if (there === undefined) this.#waitingNew += 1;
    this.#length += item.document.length;
    const { columns, projectOf } = this.#parts.entry;
    const insert: Insert = {
      key,
      cells: columns.map(cell => cell.of(item)),
      document: item.document,
      observedAt,
      replaces: there?.version ?? null,
    };
    const project = projectOf(item)?.id ?? null;
    this.#staged.set(name, { insert, project });
  }

  /** Counts known rows of these keys as seen: they stay as they are. */
  async keep(keys: readonly Key[]): Promise<void> {
    const found = await this.#find(keys);
    for (const key of keys) {
      const name = nameOf(key);
      const there = found.get(name);
      if (there === undefined) this.unreadable.added += this.#staged.has(name) ? 0 : 1;
      else if (this.seen.add(there.version)) {
        this.distinct += 1;
        this.prints.there += hashId(name);
      }
    }
  }

  /** Up to `limit` of the differences, oldest first. They stay until they are written. One slice at a time. */
  take(limit: number): Slice {
    const some = [...this.#staged].slice(0, limit);
    const projects = new Set<string>();
    for (const [name, { project }] of some) {
      if (project !== null && !this.#projects.has(project)) projects.add(project);
      this.#leaving.add(name);
    }
    const mends = this.#mends;
    this.#mends = [];
    const inserts = some.map(([, { insert }]) => insert);
    return { inserts, mends, names: some.map(([name]) => name), projects: [...projects] };
  }

  /** After a commit: the version that each of them became. */
  written({ names, inserts, projects }: Slice, versions: readonly number[]): void {
    for (const project of projects) this.#projects.add(project);
    for (const [n, { document, replaces }] of inserts.entries()) {
      const version = versions[n] ?? 0;
      if (this.#staged.delete(names[n] ?? '')) this.#length -= document.length;
      if (version === 0) continue;
      this.seen.add(version);
      if (replaces === null) this.#waitingNew -= 1;
    }
    this.#leaving.clear();
  }

  nameOf(item: Item): string {
    return nameOf(this.#keyOf(item));
  }

  #keyOf(item: Item): Key {
    return this.#parts.entry.key.map(part => String(part.of(item)));
  }

  /** Asked once for each row that comes. */
  #mayBeThere(key: Key): boolean {
    return this.#own === null || !this.#own.add(nameOf(key));
  }

  #count(isRepeated: boolean, isPage: boolean): void {
    if (isRepeated && !isPage) throw this.#duplicate();
    if (!isRepeated) this.distinct += 1;
  }

  #duplicate(): MirrorError {
    return new MirrorError('duplicate_key', `two ${this.#parts.entry.table} with one key in one answer`);
  }
}

/** One text for a key: no id holds a NUL. */
function nameOf(key: Key): string {
  return key.join('\0');
}
