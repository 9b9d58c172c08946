import { inject, onTestFinished } from 'vitest';
import type { DatabaseSettings } from '../../src/store/settings.js';
import { type EmptyDatabase, takeEmptyDatabase, tablesInSchemas } from './postgres.js';
import { temporaryFolder } from './folder.js';
import { createMigratedDatabases } from './migrated-databases.js';
import { openMirrorAndInbox, type Tables, createTables } from './tables.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The database of the programs in these tests; SQLite by default. */
    keptIn: DatabaseKind;
  }
}

export type DatabaseKind = 'SQLite' | 'PostgreSQL';

/** The database of a program in a test. */
export interface TestStore {
  readonly keptIn: DatabaseKind;
  readonly folder: string;
  /** A database whose views use the clock of the test; null for SQLite files in the folder. */
  readonly database: (DatabaseSettings & { readonly clock: 'process' }) | null;
  /** Opens the tables after the migration. Views use the given clock. */
  readonly openTables: (now: () => number) => Tables;
}

export async function createTestStore(): Promise<TestStore> {
  const folder = temporaryFolder();
  if (inject('keptIn') !== 'PostgreSQL') {
    createMigratedDatabases(folder);
    return { keptIn: 'SQLite', folder, database: null, openTables: now => openFiles(folder, now) };
  }
  const database = await takeEmptyDatabase(MOVABLE_CLOCK_POOL);
  // An earlier test may have moved the clock of this database.
  await database.postgres.query('UPDATE tests.moved SET ms = 0');
  return {
    keptIn: 'PostgreSQL',
    folder,
    database: { url: database.url, queryUrl: null, pool: null, clock: 'process' },
    openTables: now => openSchemas(database, now),
  };
}

function openFiles(folder: string, now: () => number): Tables {
  const db = openMirrorAndInbox(folder, false);
  onTestFinished(() => {
    db.close();
  });
  /** Views get the time from these functions, which return the time of the test. */
  db.function('unixepoch', { varargs: true }, (when: unknown, precision?: unknown) => {
    const atMs = when === 'now' ? now() : Date.parse(String(when));
    if (Number.isNaN(atMs)) return null;
    return precision === 'subsec' ? atMs / 1000 : BigInt(Math.floor(atMs / 1000));
  });
  db.function('strftime', { varargs: true }, (_format: unknown, when: unknown, later: unknown = '0') => {
    const atMs = (when === 'now' ? now() : Date.parse(String(when))) + parseFloat(String(later)) * 1000;
    return Number.isNaN(atMs) ? null : new Date(Math.round(atMs)).toISOString();
  });
  return createTables(db);
}

/** Databases whose views use a clock that tests move. No other test may use one of them. */
const MOVABLE_CLOCK_POOL = {
  free: new Array<EmptyDatabase>(),
  prepare: `DO $$
    DECLARE v record; told integer := 0;
    BEGIN
      CREATE SCHEMA tests;
      CREATE TABLE tests.moved (ms bigint NOT NULL);
      INSERT INTO tests.moved VALUES (0);
      CREATE FUNCTION tests.now() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT statement_timestamp() + ms * interval ''1 millisecond'' FROM tests.moved';
      FOR v IN SELECT viewname AS name, definition FROM pg_views
        WHERE schemaname = 'mirror' AND definition LIKE '%statement_timestamp()%'
      LOOP
        told := told + 1;
        EXECUTE format('CREATE OR REPLACE VIEW mirror.%I AS %s', v.name,
          replace(v.definition, 'statement_timestamp()', 'tests.now()'));
      END LOOP;
      IF told = 0 THEN RAISE 'expected views that ask for the time'; END IF;
    END $$`,
};

function openSchemas({ postgres }: EmptyDatabase, now: () => number): Tables {
  const tables = tablesInSchemas(postgres);
  let writtenOffsetMs: number | null = null;

  async function updateClock(): Promise<void> {
    const offsetMs = now() - Date.now();
    if (writtenOffsetMs !== null && Math.abs(offsetMs - writtenOffsetMs) < 2) return;
    await postgres.query('UPDATE tests.moved SET ms = $1', [offsetMs]);
    writtenOffsetMs = offsetMs;
  }

  return {
    ...tables,
    rows: async (sql, ...values) => (await updateClock(), tables.rows(sql, ...values)),
    row: async (sql, ...values) => (await updateClock(), tables.row(sql, ...values)),
    column: async (sql, ...values) => (await updateClock(), tables.column(sql, ...values)),
    value: async (sql, ...values) => (await updateClock(), tables.value(sql, ...values)),
    change: async (sql, ...values) => (await updateClock(), tables.change(sql, ...values)),
  };
}
