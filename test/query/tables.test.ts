import { expect, test } from 'vitest';
import type { Columns, Kind } from '../../src/engines/contract/columns.js';
import { MIRROR_TABLES } from '../../src/engines/contract/mirror-tables.js';
import { INBOX_TABLES } from '../../src/engines/contract/tables.js';
import type { Sqlite } from '../../src/engines/sqlite/open.js';
import { temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror.js';

interface Found {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

const STORED: Readonly<Record<string, string>> = {
  text: 'TEXT',
  integer: 'INTEGER',
  large: 'INTEGER',
  real: 'REAL',
  bytes: 'BLOB',
};

function kept(kind: Kind): string {
  if (typeof kind !== 'string') return 'TEXT';
  const [name = ''] = kind.split('?');
  return `${STORED[name]}${kind.endsWith('?') ? ' or null' : ''}`;
}

function found({ type, notnull, pk }: Found): string {
  return `${type}${notnull + pk > 0 ? '' : ' or null'}`;
}

/** A view says neither what may be null nor, where a column is worked out, its type. */
function isView(db: Sqlite, table: string): boolean {
  return db.prepare('SELECT type FROM sqlite_schema WHERE name = ?').pluck().get(table) === 'view';
}

function asMigrated(db: Sqlite, table: string): string[] {
  const columns = db.prepare<[], Found>(`PRAGMA table_xinfo(${table})`).all();
  const view = isView(db, table);
  return columns.map(column => (view ? column.name : `${column.name} ${found(column)}`));
}

function asDeclared(db: Sqlite, table: string, columns: Columns): string[] {
  const view = isView(db, table);
  return Object.entries(columns).map(([name, kind]) => (view ? name : `${name} ${kept(kind)}`));
}

function compare(db: Sqlite, tables: Readonly<Record<string, Columns>>): void {
  for (const [name, columns] of Object.entries(tables)) {
    const table = name.replace('inbox.', '');
    expect(asDeclared(db, table, columns), name).toEqual(asMigrated(db, table));
  }
}

test('readers know every column of what they ask of the mirror, its storage and its order', () => {
  compare(temporaryMirror(), MIRROR_TABLES);
});

test('readers know every column of what they ask of the inbox, its storage and its order', () => {
  compare(temporaryInbox(), INBOX_TABLES);
});
