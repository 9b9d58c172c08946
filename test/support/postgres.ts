import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { buildGrantStatements, type DatabaseRolePurpose } from '../../src/store/contract/grants.js';
import { createInboxPort } from '../../src/store/postgres/inbox/inbox-port.js';
import { openPostgres, type Postgres } from '../../src/store/postgres/open-postgres.js';
import type { Server } from '../postgres/server.js';
import type { InboxStore } from './inbox.js';
import type { Tables, Value } from './tables.js';

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
}

/** Returns the PostgreSQL server of this run; throws with the reason if there is none. */
function getServer(): Server {
  const server = inject('postgres');
  if ('missing' in server) throw new Error(`This test needs PostgreSQL: ${server.missing}`);
  return server;
}

/** Creates a database, migrated or empty. It is removed with the server. */
export async function createDatabase(
  options: { readonly migrated?: boolean; readonly options?: string } = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = options.migrated === false ? 'template0' : 'template_of_tests';
  const { host, port } = getServer();
  const client = new Client({ host, port, user: 'postgres', database: 'postgres' });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${options.options ?? ''}`);
  } finally {
    await client.end();
  }
  return describeDatabase(name);
}

/** Returns the database of all tests that create nothing in it. */
export function getSharedDatabase(): TestDatabase {
  return describeDatabase('postgres');
}

function describeDatabase(name: string): TestDatabase {
  const { host, port } = getServer();
  return { name, url: `postgres://postgres@localhost/${name}?host=${host}&port=${port}` };
}

export function openForTest({ url }: TestDatabase, connections = 4): Postgres {
  const faults: Error[] = [];
  const postgres = openPostgres({ url, name: 'test', connections, onFault: error => faults.push(error) });
  onTestFinished(async () => {
    await postgres.close();
    if (faults.length > 0) throw faults[0];
  });
  return postgres;
}

/** Connects with a new role that has only the rights needed for one purpose. */
export async function openWithRole(
  owner: Postgres,
  database: TestDatabase,
  purpose: DatabaseRolePurpose,
): Promise<Postgres> {
  return openForTest(await createRole(owner, database, purpose));
}

/** Creates a role with the rights for one purpose, and returns the database with the URL of that role. */
export async function createRole(
  owner: Pick<Postgres, 'query'>,
  { name, url }: TestDatabase,
  purpose: DatabaseRolePurpose,
): Promise<TestDatabase> {
  const role = `${purpose} "${randomBytes(6).toString('hex')}"`;
  await owner.query(`CREATE ROLE "${role.replaceAll('"', '""')}" LOGIN`);
  for (const grant of buildGrantStatements(purpose, role)) await owner.query(grant);
  return { name, url: url.replace('//postgres@', `//${encodeURIComponent(role)}@`) };
}

export function getRoleName({ url }: TestDatabase): string {
  return decodeURIComponent(new URL(url).username);
}

export function openInboxOnPostgres(postgres: Postgres): InboxStore {
  return {
    db: tablesInSchemas(postgres),
    open: now => createInboxPort(postgres, now),
    openSecondConnection: () => openInboxOnPostgres(postgres),
  };
}

/** Opens the tables of both schemas. Booleans are 0 and 1, as on SQLite. */
export function tablesInSchemas({ query }: Postgres): Tables {
  const rows: Tables['rows'] = async <Row>(sql: string, ...values: Value[]) => {
    let place = 0;
    const found = await query<Row & object>(
      sql.replaceAll('?', () => `$${(place += 1)}`),
      values,
    );
    return found.map(booleansToNumbers);
  };
  const column: Tables['column'] = async <Cell>(sql: string, ...values: Value[]) => {
    const found = await rows<Record<string, Cell>>(sql, ...values);
    return found.flatMap(row => Object.values(row).slice(0, 1));
  };
  const listNames = (kind: string) =>
    column<string>(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'mirror' AND table_type = ?",
      kind,
    );
  return {
    rows,
    column,
    row: async <Row>(sql: string, ...values: Value[]) => (await rows<Row>(sql, ...values))[0],
    value: async <Cell>(sql: string, ...values: Value[]) => (await column<Cell>(sql, ...values))[0],
    tables: () => listNames('BASE TABLE'),
    views: () => listNames('VIEW'),
    columns: table =>
      column<string>(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'mirror' AND table_name = ? ORDER BY ordinal_position",
        table,
      ),
    change: async (sql, ...values) => {
      if (values.length === 0) await query(sql);
      else await rows(sql, ...values);
    },
  };
}

export function openDatabase(database: TestDatabase): Postgres {
  const postgres = connectTo(database);
  onTestFinished(postgres.close);
  return postgres;
}

function connectTo({ url }: TestDatabase): Postgres {
  return openPostgres({
    url: `${url}&options=-c%20search_path=mirror,inbox`,
    name: 'contract',
    connections: 4,
    onFault: error => {
      throw error;
    },
  });
}

function booleansToNumbers<Row extends object>(row: Row): Row {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'boolean') Object.assign(row, { [name]: Number(value) });
  }
  return row;
}

/** A database with empty tables, and a connection of its owner. */
export interface EmptyDatabase extends TestDatabase {
  readonly postgres: Postgres;
}

/** Databases that are emptied and used again, because creating one takes longer than most tests. */
export interface DatabasePool {
  readonly free: EmptyDatabase[];
  /** SQL that prepares each new database; null if none. */
  readonly prepare: string | null;
}

const DEFAULT_POOL: DatabasePool = { free: [], prepare: null };

const EMPTY_ALL_TABLES = `DO $$
  DECLARE t record;
  BEGIN
    FOR t IN SELECT schemaname AS s, tablename AS n FROM pg_tables
      WHERE schemaname IN ('inbox', 'mirror', 'evidence', 'events') AND tablename <> 'schema_migrations'
    LOOP EXECUTE format('DELETE FROM %I.%I', t.s, t.n); END LOOP;
    FOR t IN SELECT schemaname AS s, sequencename AS n FROM pg_sequences WHERE schemaname IN ('inbox', 'mirror', 'evidence', 'events')
    LOOP PERFORM setval(format('%I.%I', t.s, t.n)::regclass, 1, false); END LOOP;
    INSERT INTO mirror.version_counter VALUES (1, 0);
    INSERT INTO mirror.certificate_mark VALUES (1, 0);
    INSERT INTO inbox.claims VALUES (1, 0);
  END $$`;

/** Takes an empty database from a pool, or creates one. It returns to the pool after the test. */
export async function takeEmptyDatabase({
  free,
  prepare,
}: DatabasePool = DEFAULT_POOL): Promise<EmptyDatabase> {
  const database = free.pop() ?? (await createEmptyDatabase(prepare));
  await database.postgres.query(EMPTY_ALL_TABLES);
  onTestFinished(() => void free.push(database));
  return database;
}

async function createEmptyDatabase(prepare: string | null): Promise<EmptyDatabase> {
  const database = await createDatabase();
  const postgres = connectTo(database);
  if (prepare !== null) await postgres.query(prepare);
  return { ...database, postgres };
}
