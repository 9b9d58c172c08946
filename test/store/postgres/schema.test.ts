import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { migrateFile } from '../../../src/store/sqlite/migrate.js';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import { openDatabase } from '../../../src/store/sqlite/open-database.js';
import type { Relation } from '../../../src/store/contract/describe-schema.js';
import { describeSchema } from '../../../src/store/contract/describe-schema.js';
import { temporaryFolder } from '../../support/inbox.js';
import { type TestDatabase, openForTest, createDatabase } from '../../support/postgres.js';

/** An instant of PostgreSQL is text of one format on SQLite. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  INTEGER: ['bigint'],
  REAL: ['double precision'],
  TEXT: ['text', 'jsonb', 'timestamp(3) with time zone'],
  BLOB: ['bytea'],
};
const INSTANT = /_at$|^valid_(from|to)$|^(claimed_until|simulated_until|failing_since|as_of)$/;
const LONGEST_NAME = 63;

interface Column {
  readonly name: string;
  readonly type: string;
  readonly collation: string | null;
  readonly meaning: string;
}

let migrated: TestDatabase;

beforeAll(async () => {
  migrated = await createDatabase();
});

/** Without the record of migrations, which is the engine's own. */
const relations = describeSchema('sqlite').filter(({ name }) => name !== 'schema_migrations');

/** Has a row for each of its counts, 0 too. */
const COUNTS = 'findings';

/** There files stand beside the database. */
const ONLY_HERE = { name: 'mirror.certificate_files', kind: 'table' };

const columnsOf = (postgres: Postgres, { database, name }: Relation): Promise<Column[]> =>
  postgres.query<Column>(
    `SELECT attname::text AS name, format_type(atttypid, atttypmod) AS type, collname::text AS collation,
       col_description(attrelid, attnum) AS meaning
     FROM pg_attribute LEFT JOIN pg_collation ON pg_collation.oid = attcollation
     WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum`,
    [`${database}.${name}`],
  );

test('both engines have the same tables and views, except the table of certificate files', async () => {
  const postgres = openForTest(migrated);
  const there = await postgres.query<{ name: string; kind: string }>(
    `SELECT table_schema || '.' || table_name AS name, CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END AS kind
     FROM information_schema.tables WHERE table_schema IN ('inbox', 'mirror') AND table_name <> 'schema_migrations'`,
  );
  const here = relations.map(({ database, name, kind }) => ({ name: `${database}.${name}`, kind }));
  expect(there.toSorted(byName)).toEqual([...here, ONLY_HERE].toSorted(byName));
});

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

test('both engines have the same columns in the same order, with the same descriptions', async () => {
  const postgres = openForTest(migrated);
  const rowsOf = sqliteColumns();
  for (const relation of relations) {
    const name = `${relation.database}.${relation.name}`;
    const columns = await columnsOf(postgres, relation);
    expect(
      columns.map(column => column.name),
      name,
    ).toEqual(rowsOf(relation));
    const meanings = new Map(relation.columns.map(column => [column.name, column.meaning]));
    expect(new Map(columns.map(column => [column.name, column.meaning])), name).toEqual(meanings);
    const [said] = await postgres.query('SELECT obj_description($1::regclass) AS meaning', [name]);
    expect(said, name).toEqual({ meaning: relation.meaning });
  }
});

/** Returns the columns of each relation in the order of SQLite's `SELECT *`. */
function sqliteColumns(): (relation: Relation) => string[] {
  const folder = temporaryFolder();
  const open = (schema: 'inbox' | 'mirror') => {
    const file = join(folder, `${schema}.db`);
    migrateFile(file, schema, new Date(0).toISOString());
    return openDatabase(file, { busyTimeoutMs: 1_000, readonly: true });
  };
  const files = { inbox: open('inbox'), mirror: open('mirror') };
  const found = new Map(
    relations.map(relation => [
      relation,
      files[relation.database]
        .prepare<[string], string>('SELECT name FROM pragma_table_xinfo(?)')
        .pluck()
        .all(relation.name),
    ]),
  );
  for (const db of Object.values(files)) db.close();
  return relation => found.get(relation) ?? [];
}

test('a table column has the type that corresponds to SQLite, and columns named as instants are instants', async () => {
  const postgres = openForTest(migrated);
  for (const relation of relations.filter(({ kind }) => kind === 'table')) {
    const types = new Map(relation.columns.map(column => [column.name, column.type]));
    for (const { name, type } of await columnsOf(postgres, relation)) {
      const where = `${relation.name}.${name}`;
      expect(KINDS[types.get(name) ?? ''], where).toContain(type);
      expect(type.startsWith('timestamp'), where).toBe(INSTANT.test(name));
    }
  }
});

test('a view shows instants as instants, and uses no type that SQLite lacks', async () => {
  const postgres = openForTest(migrated);
  for (const relation of relations.filter(({ kind }) => kind === 'view')) {
    for (const { name, type } of await columnsOf(postgres, relation)) {
      const where = `${relation.name}.${name}`;
      expect(Object.values(KINDS).flat(), where).toContain(type);
      expect(type.startsWith('timestamp'), where).toBe(INSTANT.test(name));
    }
  }
});

test('text is ordered by code point, whatever the collation of the database', async () => {
  const postgres = openForTest(migrated);
  for (const relation of relations) {
    for (const { name, type, collation } of await columnsOf(postgres, relation)) {
      expect(collation, `${relation.name}.${name}`).toBe(type === 'text' ? 'C' : null);
    }
  }
});

test('no name is longer than PostgreSQL allows', async () => {
  const postgres = openForTest(migrated);
  const names = await postgres.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace)
     UNION SELECT conname FROM pg_constraint WHERE connamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace)`,
  );
  expect(names.filter(({ name }) => name.length >= LONGEST_NAME)).toEqual([]);
});

test('every view can be read in an empty database', async () => {
  const postgres = openForTest(migrated);
  for (const { database, name } of relations.filter(({ kind }) => kind === 'view')) {
    expect(
      await postgres.query(`SELECT * FROM ${database}.${name}${name === COUNTS ? ' WHERE rows > 0' : ''}`),
      name,
    ).toEqual([]);
  }
});
