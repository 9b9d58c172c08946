import { expect, test } from 'vitest';
import type { Columns, Kind } from '../../migrations/schema.js';
import { isNullable, TABLES } from '../../src/store/contract/tables.js';
import { getColumnType } from '../../src/store/migrations.js';
import { temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror/open.js';
import { type Tables, createTables } from '../support/tables.js';

interface Found {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

function kept(table: string, column: string, kind: Kind): string {
  return `${getColumnType('sqlite', kind)}${isNullable(table, column) ? ' or null' : ''}`;
}

function found({ type, notnull, pk }: Found): string {
  return `${type}${notnull + pk > 0 ? '' : ' or null'}`;
}

/** A view says neither what may be null nor, where a column is worked out, its type. */
async function isView(db: Tables, table: string): Promise<boolean> {
  return (await db.views()).includes(table);
}

async function asMigrated(db: Tables, table: string): Promise<string[]> {
  const columns = await db.rows<Found>(`PRAGMA table_xinfo(${table})`);
  const view = await isView(db, table);
  return columns.map(column => (view ? column.name : `${column.name} ${found(column)}`));
}

async function asDeclared(db: Tables, table: string, columns: Columns, known: string): Promise<string[]> {
  const view = await isView(db, table);
  return Object.entries(columns).map(([name, [kind]]) =>
    view ? name : `${name} ${kept(known, name, kind)}`,
  );
}

test('readers know every column of a table, its storage class and its order', async () => {
  const files = { mirror: createTables(temporaryMirror()), inbox: createTables(temporaryInbox()) };
  expect(Object.keys(TABLES).length).toBeGreaterThan(50);
  for (const [name, columns] of Object.entries(TABLES)) {
    const db = name.startsWith('inbox.') ? files.inbox : files.mirror;
    const table = name.replace('inbox.', '');
    expect(await asDeclared(db, table, columns, name), name).toEqual(await asMigrated(db, table));
  }
});
