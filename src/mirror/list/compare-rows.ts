import type { ListEntry } from '../../resources/entry.js';
import { toComparableText } from '../../resources/sql-values.js';
import type { RowInsert, RowKey, StoredRow, VersionCells } from '../port/rows.js';

/** A row as an answer of the registry showed it. */
export interface ObservedRow<Item> {
  readonly item: Item;
  readonly key: RowKey;
  readonly keyText: string;
  readonly observedAt: string;
}

/** A new version of a row, and the project that the row references. */
export interface PendingWrite {
  readonly insert: RowInsert;
  readonly projectId: string | null;
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
