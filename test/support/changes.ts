import type { Sqlite } from '../../src/engines/sqlite/open.js';
import { KEYS } from '../../src/engines/sqlite/laws/law.js';
import { VERSION_LAWS } from '../../src/engines/sqlite/laws/versions.js';

export interface Change {
  readonly number: number;
  readonly row: string;
  /** Null where it is gone. */
  readonly shows: string | null;
}

/** What moved since a number, in the order of the numbers. */
export function changesSince(db: Sqlite, after: number): Change[] {
  const each = Object.entries(KEYS).flatMap(([table, key]) => {
    const same = key.map(column => `n.${column} = p.${column}`).join(' AND ');
    return [
      `SELECT version AS number, ${row(table, key)} AS row, ${shows(table)} AS shows FROM ${table}_history
       WHERE version > @after${stored(table)}`,
      `SELECT closed_version, ${row(table, key)}, NULL FROM ${table}_past AS p
       WHERE closed_version > @after
         AND NOT EXISTS (SELECT 1 FROM ${table}_history AS n WHERE n.version = p.closed_version AND ${same})`,
    ];
  });
  return db
    .prepare<[{ after: number }], Change>(`${each.join(' UNION ALL ')} ORDER BY number`)
    .all({ after });
}

/** What stands there now. */
export function present(db: Sqlite): Map<string, string> {
  const each = Object.entries(KEYS).map(
    ([table, key]) => `SELECT ${row(table, key)}, ${shows(table)} FROM ${table} WHERE true${stored(table)}`,
  );
  return new Map(db.prepare<[], [string, string]>(each.join(' UNION ALL ')).raw().all());
}

export function replay(copy: Map<string, string>, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.shows === null) copy.delete(change.row);
    else copy.set(change.row, change.shows);
  }
}

/** The laws of versions that do not hold. */
export function brokenLaws(db: Sqlite, now: number): string[] {
  const at = new Date(now).toISOString();
  return VERSION_LAWS.filter(({ sql }) => db.prepare(sql.replaceAll(':now', `'${at}'`)).all().length > 0).map(
    ({ law }) => law,
  );
}

function row(table: string, key: readonly string[]): string {
  return `'${table} ' || ${key.join(" || ' ' || ")}`;
}

function shows(table: string): string {
  return table === 'certificates' ? 'file' : table === 'installations' ? 'state || document' : 'document';
}

/** A certificate that was never stored has no history. */
function stored(table: string): string {
  return table === 'certificates' ? " AND state = 'stored'" : '';
}
