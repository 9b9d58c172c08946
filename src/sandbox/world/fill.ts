import type { Database } from 'better-sqlite3';
import type { WorldTables } from '../store/schema.js';

/** Parents before children. */
const TABLES = [
  'apps',
  'users',
  'organizations',
  'members',
  'addresses',
  'projects',
  'credits',
  'holdings',
  'reservations',
  'inventory_requests',
  'retirements',
  'transactions',
] as const;

/** Puts a world into an empty database and then makes a note of it, all of it or nothing. */
export function fillWorld(db: Database, world: WorldTables, note: () => void = () => undefined): void {
  const cachePages = db.pragma('cache_size', { simple: true });
  // Room for the indexes of a million random ids, in KiB.
  db.pragma('cache_size = -65536');
  try {
    db.transaction(() => {
      for (const table of TABLES) fillTable(db, table, world[table]);
      note();
    }).immediate();
  } finally {
    db.pragma(`cache_size = ${String(cachePages)}`);
    db.pragma('shrink_memory');
    db.pragma('wal_checkpoint(TRUNCATE)');
  }
}

function fillTable(db: Database, table: string, rows: Iterable<object>): void {
  let insert: ((row: object) => void) | undefined;
  for (const row of rows) {
    insert ??= prepareInsert(db, table, Object.keys(row));
    insert(row);
  }
}

function prepareInsert(db: Database, table: string, columns: readonly string[]): (row: object) => void {
  const names = columns.join(', ');
  const statement = db.prepare(
    `insert into ${table} (${names}) values (${columns.map(name => `@${name}`).join(', ')})`,
  );
  return row => {
    statement.run(row);
  };
}
