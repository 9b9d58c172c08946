import { expect, test } from 'vitest';
import type { Columns, Kind } from '../../src/engines/contract/columns.js';
import { MIRROR_TABLES } from '../../src/engines/contract/mirror-tables.js';
import { INBOX_TABLES } from '../../src/engines/contract/tables.js';
import { temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror.js';
import { type Tables, tablesOf } from '../support/tables.js';

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
async function isView(db: Tables, table: string): Promise<boolean> {
  return (await db.views()).includes(table);
}

async function asMigrated(db: Tables, table: string): Promise<string[]> {
  const columns = await db.rows<Found>(`PRAGMA table_xinfo(${table})`);
  const view = await isView(db, table);
  return columns.map(column => (view ? column.name : `${column.name} ${found(column)}`));
}

async function asDeclared(db: Tables, table: string, columns: Columns): Promise<string[]> {
  const view = await isView(db, table);
  return Object.entries(columns).map(([name, kind]) => (view ? name : `${name} ${kept(kind)}`));
}

async function compare(db: Tables, tables: Readonly<Record<string, Columns>>): Promise<void> {
  for (const [name, columns] of Object.entries(tables)) {
    const table = name.replace('inbox.', '');
    expect(await asDeclared(db, table, columns), name).toEqual(await asMigrated(db, table));
  }
}

test('readers know every column of what they ask of the mirror, its storage and its order', async () => {
  await compare(tablesOf(temporaryMirror()), MIRROR_TABLES);
});

test('readers know every column of what they ask of the inbox, its storage and its order', async () => {
  await compare(tablesOf(temporaryInbox()), INBOX_TABLES);
});
