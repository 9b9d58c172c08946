import { MirrorError } from '../mirror-error.js';
import type {
  VersionCells,
  ListChanges,
  RowInsert,
  RowKey,
  ListRef,
  MirrorPort,
  SyncRequest,
  StoredRow,
} from '../port.js';
import { createIdSet, hashId, type IdSet } from '../../registry/pages/id-set.js';
import { toComparableText } from '../../resources/sql-values.js';
import type { ListEntry } from '../../resources/entry.js';
import type { SyncSession } from '../sync-session.js';
import { VersionSet } from './version-set.js';

/** Repaired rows that the sync's message names; the others are only counted. */
const MAX_NAMED_REPAIRS = 3;

/** The dependencies of a read of one list. */
export interface ListReadOptions<Item> {
  readonly port: MirrorPort;
  readonly request: SyncRequest;
  readonly list: ListRef;
  readonly sync: SyncSession;
  readonly entry: ListEntry<Item>;
  readonly now: () => number;
}

/** Differences that one transaction writes. */
export interface WriteBatch extends Pick<ListChanges, 'inserts' | 'repairs' | 'projects'> {
  /** The key text of each insert, in the same order. */
  readonly keyTexts: readonly string[];
}

/** A new version of a row that is not written yet, and the project that the row references. */
interface PendingWrite {
  readonly insert: RowInsert;
  readonly projectId: string | null;
}

/** A row as an answer of the registry showed it. */
export interface ObservedRow<Item> {
  readonly item: Item;
  readonly keyText: string;
  readonly observedAt: string;
}

/** An observed row beside the stored row of the same key. */
interface ComparedRow<Item> extends ObservedRow<Item> {
  readonly key: RowKey;
  readonly stored: StoredRow | undefined;
  readonly isUnchanged: boolean;
}

/** Compares the rows of a read with the stored rows, and buffers the differences until they are written. */
export class ListComparison<Item extends { document: string }> {
  /** The current version of every row that this read saw and that is written. */
  readonly seen = new VersionSet();
  /** Readable rows that this read saw, each counted once. */
  distinctCount = 0;
  /** Unreadable rows that are not stored: new ones, and ones whose key cannot be read either. */
  readonly unreadable = { added: 0, withoutKey: 0 };
  /** Sums of the key fingerprints of rows on pages: of rows that the mirror had, and of new ones. */
  readonly fingerprints = { known: 0, added: 0 };
  /** How many rows a read in full found changed by hand, and descriptions of the first of them. */
  repairedCount = 0;
  readonly firstRepaired: string[] = [];
  readonly #pending = new Map<string, PendingWrite>();
  /** Keys of the batch that is being written. */
  readonly #inFlight = new Set<string>();
  /** Pending rows that are new to the mirror. */
  #pendingNewCount = 0;
  /** Characters of the pending documents. */
  #pendingLength = 0;
  /** Projects that are already written as references. */
  readonly #writtenProjects = new Set<string>();
  /** The right column values of rows that were changed by hand. */
  #pendingRepairs: VersionCells[] = [];
  /** The keys of this read if the mirror had no rows of the list before it, which saves looking them up; else null. */
  readonly #keysOfFirstRead: IdSet | null;
  readonly #options: ListReadOptions<Item>;

  constructor(options: ListReadOptions<Item>) {
    this.#options = options;
    this.#keysOfFirstRead = options.sync.previousState.rows === 0 ? createIdSet() : null;
  }

  /** How many differences wait to be written, without those of the batch in flight. */
  get pendingCount(): number {
    return this.#pending.size - this.#inFlight.size;
  }

  /** How many repairs wait to be written. */
  get repairCount(): number {
    return this.#pendingRepairs.length;
  }

  /** How many characters the documents have that wait to be written. */
  get pendingLength(): number {
    return this.#pendingLength;
  }

  /** How many stored rows this read has not seen. */
  get unseenCount(): number {
    const { previousState, counts } = this.#options.sync;
    const seenAndStored = this.distinctCount - this.#pendingNewCount;
    return previousState.rows + counts.added - seenAndStored;
  }

  /** Discards all pending changes. */
  clear(): void {
    this.#pending.clear();
    this.#inFlight.clear();
    this.#pendingLength = 0;
  }

  /** Throws `duplicate_key` if two of these rows have the same key. */
  assertDistinctKeys(items: readonly Item[]): void {
    const keyTexts = new Set(items.map(item => this.toKeyText(item)));
    if (keyTexts.size < items.length) throw this.#createDuplicateError();
  }

  /** Counts the rows of a page that need no comparison because they are unchanged. */
  countSkipped(rowCount: number): void {
    this.distinctCount += rowCount;
    this.#options.sync.addUnchanged(rowCount);
  }

  /** Whether one of these rows already has a pending change. */
  hasPending(rows: readonly ObservedRow<Item>[]): boolean {
    return this.#pending.size > 0 && rows.some(({ keyText }) => this.#pending.has(keyText));
  }

  /** Compares observed rows with the stored rows and buffers the differences. */
  async compare(rows: readonly ObservedRow<Item>[], isPaginated: boolean): Promise<void> {
    const keys = rows.map(({ item }) => this.#toKey(item));
    const storedRows = await this.#findStored(keys.filter(key => this.#mustLookUp(key)));
    const unchanged: { item: Item; stored: StoredRow }[] = [];
    for (const [index, row] of rows.entries()) {
      const { item, keyText } = row;
      const stored = storedRows.get(keyText);
      const isUnchanged = stored?.document === item.document;
      if (isUnchanged) unchanged.push({ item, stored });
      this.#addCompared({ ...row, key: keys[index] ?? [], stored, isUnchanged }, isPaginated);
    }
    this.#options.sync.addUnchanged(unchanged.length);
    if (this.#options.request.full) this.#findRepairs(unchanged);
  }

  /** Finds stored rows whose columns contradict their JSON document, and buffers the correct values. */
  #findRepairs(rows: readonly { readonly item: Item; readonly stored: StoredRow }[]): void {
    const { columns } = this.#options.entry;
    for (const { item, stored } of rows) {
      const { version, key, cells } = stored;
      const rightCells = columns.map(column => column.getValue(item));
      // Columns are wrong after a manual edit, for example.
      const wrongColumns = columns.filter(
        (_, index) => toComparableText(cells[index]) !== toComparableText(rightCells[index]),
      );
      if (wrongColumns.length === 0) continue;
      this.#pendingRepairs.push({ version, cells: rightCells });
      this.repairedCount += 1;
      if (this.firstRepaired.length === MAX_NAMED_REPAIRS) continue;
      this.firstRepaired.push(`${key.join(', ')} (${wrongColumns.map(({ name }) => name).join(', ')})`);
    }
  }

  /** Reads the stored rows with these keys. Returns a map from the key, as one text, to the row. */
  async #findStored(keys: readonly RowKey[]): Promise<ReadonlyMap<string, StoredRow>> {
    const { port, list, request } = this.#options;
    const rows = keys.length === 0 ? [] : await port.findRows(list, keys, request.full);
    return new Map(rows.map(row => [formatKey(row.key), row]));
  }

  /** Marks a row as seen in this read. If the row changed, adds a new version to the pending writes. */
  #addCompared(
    { item, key, keyText, stored, isUnchanged, observedAt }: ComparedRow<Item>,
    isPaginated: boolean,
  ): void {
    if (this.#pending.has(keyText)) throw this.#createDuplicateError();
    const isRepeated = stored !== undefined && this.seen.has(stored.version);
    // Rows may move between pages during a read, so a key may be on two pages.
    if (isRepeated && !isPaginated) throw this.#createDuplicateError();
    if (!isRepeated) this.distinctCount += 1;
    if (isPaginated) this.fingerprints[stored === undefined ? 'added' : 'known'] += hashId(keyText);
    if (stored !== undefined) this.seen.add(stored.version);
    if (isUnchanged) return;
    if (stored === undefined) this.#pendingNewCount += 1;
    this.#pendingLength += item.document.length;
    const { columns, getProject } = this.#options.entry;
    const insert: RowInsert = {
      key,
      cells: columns.map(column => column.getValue(item)),
      document: item.document,
      observedAt,
      replacedVersion: stored?.version ?? null,
    };
    this.#pending.set(keyText, { insert, projectId: getProject(item)?.id ?? null });
  }

  /** Marks stored rows as seen although their new content is unreadable, so that this read keeps them. */
  async addUnreadable(keys: readonly RowKey[]): Promise<void> {
    const storedRows = await this.#findStored(keys);
    for (const key of keys) {
      const keyText = formatKey(key);
      const stored = storedRows.get(keyText);
      if (stored === undefined) {
        if (!this.#pending.has(keyText)) this.unreadable.added += 1;
      } else if (this.seen.add(stored.version)) {
        this.distinctCount += 1;
        this.fingerprints.known += hashId(keyText);
      }
    }
  }

  /** Takes up to `limit` changes and all repairs to write. Call `confirmWritten` after the commit. */
  takeBatch(limit: number): WriteBatch {
    const entries = [...this.#pending].slice(0, limit);
    const projects = new Set<string>();
    for (const [keyText, { projectId }] of entries) {
      if (projectId !== null && !this.#writtenProjects.has(projectId)) projects.add(projectId);
      this.#inFlight.add(keyText);
    }
    const repairs = this.#pendingRepairs;
    this.#pendingRepairs = [];
    const inserts = entries.map(([, { insert }]) => insert);
    return { inserts, repairs, keyTexts: entries.map(([keyText]) => keyText), projects: [...projects] };
  }

  /** Removes a written batch from the pending changes. `versions` has the version number of each insert. */
  confirmWritten(batch: WriteBatch, versions: readonly number[]): void {
    const { keyTexts, inserts, projects } = batch;
    for (const project of projects) this.#writtenProjects.add(project);
    for (const [index, { document, replacedVersion }] of inserts.entries()) {
      const version = versions[index] ?? 0;
      if (this.#pending.delete(keyTexts[index] ?? '')) this.#pendingLength -= document.length;
      // Version 0: the row was left out, because the person has asked to be forgotten.
      if (version === 0) continue;
      this.seen.add(version);
      if (replacedVersion === null) this.#pendingNewCount -= 1;
    }
    this.#inFlight.clear();
  }

  /** Formats the key of an item as one text. */
  toKeyText(item: Item): string {
    return formatKey(this.#toKey(item));
  }

  /** Returns the values of the key columns of an item. */
  #toKey(item: Item): RowKey {
    return this.#options.entry.key.map(part => String(part.getValue(item)));
  }

  /** Whether the database may have a row with this key. In the first read of a list, records the key. */
  #mustLookUp(key: RowKey): boolean {
    // In the first read of a list, the mirror can only have a row that arrived before in this read.
    return this.#keysOfFirstRead === null || !this.#keysOfFirstRead.add(formatKey(key));
  }

  #createDuplicateError(): MirrorError {
    return new MirrorError(
      'duplicate_key',
      `two ${this.#options.entry.table} with the same key in one answer`,
    );
  }
}

/** Joins the parts of a key with NUL, which no id contains. */
function formatKey(key: RowKey): string {
  return key.join('\0');
}
