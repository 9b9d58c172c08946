import { RESOURCES } from '../../migrations/mirror/0001/mirrored.js';
import type { Tables } from './tables.js';

export interface ObservedChange {
  readonly number: number;
  readonly place: string;
  /** Null if the row was removed. */
  readonly shows: string | null;
}

/** Lists the changes after a change number, in the order of their numbers. */
export function listChangesSince(db: Tables, after: number): Promise<ObservedChange[]> {
  const each = RESOURCES.flatMap(({ table, key }) => {
    const same = key.map(column => `n.${column} = p.${column}`).join(' AND ');
    return [
      `SELECT version AS number, ${place(table, key)} AS place, ${shows(table)} AS shows FROM ${table}_history
       WHERE version > ${after}${stored(table)}`,
      `SELECT closed_version, ${place(table, key)}, NULL FROM ${table}_history AS p
       WHERE closed_version > ${after}
         AND NOT EXISTS (SELECT 1 FROM ${table}_history AS n WHERE n.version = p.closed_version AND ${same})`,
    ];
  });
  return db.rows<ObservedChange>(`${each.join(' UNION ALL ')} ORDER BY number`);
}

/** Reads the current rows, by key. */
export async function readCurrentRows(db: Tables): Promise<Map<string, string>> {
  const each = RESOURCES.map(
    ({ table, key }) =>
      `SELECT ${place(table, key)} AS place, ${shows(table)} AS shows FROM ${table} WHERE true${stored(table)}`,
  );
  const rows = await db.rows<{ place: string; shows: string }>(each.join(' UNION ALL '));
  return new Map(rows.map(row => [row.place, row.shows]));
}

export function applyChanges(copy: Map<string, string>, changes: readonly ObservedChange[]): void {
  for (const change of changes) {
    if (change.shows === null) copy.delete(change.place);
    else copy.set(change.place, change.shows);
  }
}

function place(table: string, key: readonly string[]): string {
  return `'${table} ' || ${key.join(" || ' ' || ")}`;
}

function shows(table: string): string {
  return table === 'certificates' ? 'file' : table === 'installations' ? 'state || document' : 'document';
}

/** Excludes certificates that were never stored: they have no history. */
function stored(table: string): string {
  return table === 'certificates' ? " AND state = 'stored'" : '';
}
