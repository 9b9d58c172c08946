import { MirrorError } from '../mirror-error.js';
import type { RowInsert, RowKey, ListRef, StoredRow, VersionCells } from '../port/rows.js';
import type { MirrorPort } from '../port/mirror-port.js';
import type { SyncRequest } from '../port/sync.js';
import { createIdSet, hashId, type IdSet } from '../../registry/pages/id-set.js';
import type { ListEntry } from '../../resources/entry.js';
import type { SyncSession } from '../sync-session.js';
import { type PendingWrites, VersionSet, type PendingWrite } from './pending-writes.js';
import { toComparableText } from '../../resources/sql-values.js';

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

/** Compares the rows of a read with the stored rows, records which rows it has seen, and buffers the differences. */
export class ListComparison<Item extends { document: string }> {
  /** The version numbers of the stored rows that this read saw. */
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
  /** Readable rows of this read that the mirror does not have, because they are not written yet or may not be. */
  #unstoredCount = 0;
  /** The keys of this read if the mirror had no rows of the list before it, which saves looking them up; else null. */
  readonly #keysOfFirstRead: IdSet | null;
  readonly #options: ListReadOptions<Item>;
  readonly #pending: PendingWrites;

  constructor(options: ListReadOptions<Item>, pending: PendingWrites) {
    this.#options = options;
    this.#pending = pending;
    this.#keysOfFirstRead = options.sync.previousState.rows === 0 ? createIdSet() : null;
  }

  /** How many stored rows this read has not seen. */
  get unseenCount(): number {
    const { previousState, counts } = this.#options.sync;
    return previousState.rows + counts.added - (this.distinctCount - this.#unstoredCount);
  }

  /** Combines an item with its key and with `observedAt`, the instant at which the response with the item arrived. */
  toObservedRow(item: Item, observedAt: string): ObservedRow<Item> {
    const key = this.#options.entry.key.map(part => String(part.getValue(item)));
    return { item, key, keyText: formatKey(key), observedAt };
  }

  /** Throws `duplicate_key` if two of these rows have the same key. */
  assertDistinctKeys(rows: readonly ObservedRow<Item>[]): void {
    const keyTexts = new Set(rows.map(({ keyText }) => keyText));
    if (keyTexts.size < rows.length) throw this.#createDuplicateError();
  }

  /**
   * Counts rows that this read skipped because their page or row group is unchanged. Adds them to the rows that this read has seen, and to
   * the unchanged rows of the sync.
   */
  countSkipped(rowCount: number): void {
    this.distinctCount += rowCount;
    this.#options.sync.addUnchanged(rowCount);
  }

  /**
   * Compares observed rows with the stored rows, marks them as seen, and buffers new row versions and repairs. With
   * `isPaginated`, a row may appear again on a later page; otherwise a repeated row throws `duplicate_key`.
   */
  async compare(rows: readonly ObservedRow<Item>[], isPaginated: boolean): Promise<void> {
    const { entry, request, sync } = this.#options;
    const rowsToLookUp = rows.filter(({ keyText }) => this.#mustLookUp(keyText));
    const storedRows = await this.#findStored(rowsToLookUp.map(({ key }) => key));
    const compared = compareRows(rows, { entry, storedRows, checksColumns: request.full === true });
    for (const row of compared) this.#addCompared(row, isPaginated);
    sync.addUnchanged(compared.filter(({ write }) => write === null).length);
  }

  /**
   * Marks the stored rows with these keys as seen, because their new content is unreadable and this read must not remove them.
   * Counts the keys that are not stored.
   */
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

  /**
   * Marks committed inserts as seen by their new version numbers, which are in the order of `inserts`. Version 0 means that the
   * row was not written, because its person asked to be forgotten.
   */
  recordWritten(inserts: readonly RowInsert[], versions: readonly number[]): void {
    for (const [index, { replacedVersion }] of inserts.entries()) {
      const version = versions[index] ?? 0;
      // Version 0: the row was left out, because the person has asked to be forgotten.
      if (version === 0) continue;
      this.seen.add(version);
      if (replacedVersion === null) this.#unstoredCount -= 1;
    }
  }

  /**
   * Marks a compared row as seen and buffers its new version or its repair, if any. Throws `duplicate_key` for a repeated row,
   * unless the list is paginated and the row is not in the buffer.
   */
  #addCompared({ keyText, stored, write, repair }: ComparedRow, isPaginated: boolean): void {
    if (this.#pending.has(keyText)) throw this.#createDuplicateError();
    const isRepeated = stored !== undefined && this.seen.has(stored.version);
    // Rows may move between pages during a read, so a key may be on two pages.
    if (isRepeated && !isPaginated) throw this.#createDuplicateError();
    if (!isRepeated) this.distinctCount += 1;
    if (isPaginated) this.fingerprints[stored === undefined ? 'added' : 'known'] += hashId(keyText);
    if (stored !== undefined) this.seen.add(stored.version);
    if (repair !== null) {
      this.#pending.addRepair(repair);
      this.repairedCount += 1;
      if (this.firstRepaired.length < MAX_NAMED_REPAIRS) this.firstRepaired.push(repair.description);
    }
    if (write === null) return;
    if (stored === undefined) this.#unstoredCount += 1;
    this.#pending.add(keyText, write);
  }

  /** Reads the stored rows with these keys. Returns them by the text of their key. */
  async #findStored(keys: readonly RowKey[]): Promise<ReadonlyMap<string, StoredRow>> {
    const { port, list, request } = this.#options;
    const rows = keys.length === 0 ? [] : await port.findRows(list, keys, request.full);
    return new Map(rows.map(row => [formatKey(row.key), row]));
  }

  /**
   * Returns whether the database may contain a row with this key. In a first read, records the key and returns true only if it
   * was recorded before.
   */
  #mustLookUp(keyText: string): boolean {
    // In the first read of a list, the mirror can only have a row that arrived before in this read.
    return this.#keysOfFirstRead === null || !this.#keysOfFirstRead.add(keyText);
  }

  /** Creates the error `duplicate_key`: the registry sent two rows with the same key. */
  #createDuplicateError(): MirrorError {
    return new MirrorError(
      'duplicate_key',
      `two ${this.#options.entry.table} with the same key in one answer`,
    );
  }
}

/** A row as an answer of the registry showed it. */
export interface ObservedRow<Item> {
  readonly item: Item;
  readonly key: RowKey;
  readonly keyText: string;
  readonly observedAt: string;
}

/** The right column values of a row that somebody changed by hand. */
interface RowRepair extends VersionCells {
  /** The row and the names of its wrong columns, for people to read. */
  readonly description: string;
}

/** The difference between an observed row and the stored row of the same key. */
export interface ComparedRow {
  readonly keyText: string;
  readonly stored: StoredRow | undefined;
  /** The version to write; null if the row is unchanged. */
  readonly write: PendingWrite | null;
  /** Null if the columns of the stored row are right or were not checked. */
  readonly repair: RowRepair | null;
}

interface CompareOptions<Item> {
  readonly entry: ListEntry<Item>;
  /** The stored rows by the texts of their keys. */
  readonly storedRows: ReadonlyMap<string, StoredRow>;
  /** Whether to compare the columns of unchanged rows with their JSON. */
  readonly checksColumns: boolean;
}

/** Compares observed rows with the stored rows. Returns one result for each observed row, in the same order. */
export function compareRows<Item extends { document: string }>(
  rows: readonly ObservedRow<Item>[],
  { entry, storedRows, checksColumns }: CompareOptions<Item>,
): ComparedRow[] {
  return rows.map(row => {
    const { item, keyText } = row;
    const stored = storedRows.get(keyText);
    if (stored?.document !== item.document) {
      return { keyText, stored, write: createPendingWrite(row, stored, entry), repair: null };
    }
    return { keyText, stored, write: null, repair: checksColumns ? findRepair(item, stored, entry) : null };
  });
}

/** Formats a key as one text. Joins its parts with NUL, which no id contains. */
export function formatKey(key: RowKey): string {
  return key.join('\0');
}

/** Creates the new version to write for an observed row. `stored` is the version that it replaces, or undefined for a new row. */
function createPendingWrite<Item extends { document: string }>(
  { item, key, observedAt }: ObservedRow<Item>,
  stored: StoredRow | undefined,
  { columns, getProject }: ListEntry<Item>,
): PendingWrite {
  const insert: RowInsert = {
    key,
    cells: columns.map(column => column.getValue(item)),
    document: item.document,
    observedAt,
    replacedVersion: stored?.version ?? null,
  };
  return { insert, projectId: getProject(item)?.id ?? null };
}

/**
 * Returns the correct column values if the stored ones contradict the JSON, for example after a manual edit. Otherwise returns
 * null.
 */
function findRepair<Item>(
  item: Item,
  { version, key, cells }: StoredRow,
  { columns }: ListEntry<Item>,
): RowRepair | null {
  const rightCells = columns.map(column => column.getValue(item));
  const wrongColumns = columns.filter(
    (_, index) => toComparableText(cells[index]) !== toComparableText(rightCells[index]),
  );
  if (wrongColumns.length === 0) return null;
  const description = `${key.join(', ')} (${wrongColumns.map(({ name }) => name).join(', ')})`;
  return { version, cells: rightCells, description };
}
