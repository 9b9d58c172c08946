import { join } from 'node:path';
import { expect, test } from 'vitest';
import { migrate, readMigrations } from '../../../../src/engines/sqlite/migrate.js';
import { openDatabase, type Sqlite } from '../../../../src/engines/sqlite/open.js';
import { NOON, temporaryFolder } from '../../../support/inbox.js';

const BEFORE = 5;
const AT = new Date(NOON).toISOString();

/** A value for each column by its type, other for every row, so that a column that is lost or mixed up shows. */
function fill(db: Sqlite, table: string, row: number): void {
  const columns = db
    .prepare<[string], { name: string; type: string }>('SELECT name, type FROM pragma_table_info(?)')
    .all(table);
  const values = columns.map(({ name, type }, index) => {
    if (name === 'only_row') return 1;
    if (name === 'outcome') return 'complete';
    if (type === 'BLOB') return Buffer.from([row, index]);
    return type === 'TEXT' ? `${name} ${row}` : 100 * row + index;
  });
  db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`).run(values);
}

test('a mirror with rows goes from 0005 to 0006 and keeps every row and value', () => {
  const db = openDatabase(join(temporaryFolder(), 'mirror.db'), { busyTimeoutMs: 1000 });
  const files = readMigrations('mirror');
  migrate(db, 'mirror', AT, files.slice(0, BEFORE));
  fill(db, 'origin', 1);
  for (let row = 1; row <= 50; row++) fill(db, 'resource_states', row);
  const tables = ['origin', 'resource_states'];
  const kept = tables.map(table => ({ table, rows: db.prepare<[], object>(`SELECT * FROM ${table}`).all() }));
  expect(migrate(db, 'mirror', AT)).toEqual(files.slice(BEFORE).map(({ name }) => name));
  for (const { table, rows } of kept) {
    const names = Object.keys(rows[0] ?? {}).join(', ');
    expect(rows.length, table).toBeGreaterThan(0);
    expect(db.prepare(`SELECT ${names} FROM ${table}`).all(), table).toEqual(rows);
  }
  expect(db.prepare('SELECT count(*) FROM freshness').pluck().get()).toBe(50);
  expect(db.prepare('SELECT watched_at FROM origin').pluck().get()).toBeNull();
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  db.close();
});
