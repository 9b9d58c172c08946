import { join } from 'node:path';
import { CompiledQuery, Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import type { Value } from '../contract/tables.js';
import type { MirrorTables } from '../typed/mirror-tables.js';
import { assertMigrated } from './migrate.js';
import { openDatabase, type Sqlite } from './open-database.js';
import { toSafeNumbers } from './safe-integers.js';

/** A reader may wait for a checkpoint or a migration, but never for a writer. */
const BUSY_MS = 5_000;

/** Opens the mirror.db of a data folder read-only, for typed queries. Throws unless its schema is migrated. */
export async function openTypedMirror(dataDir: string): Promise<Kysely<MirrorTables>> {
  const database = openDatabase(join(dataDir, 'mirror.db'), { busyTimeoutMs: BUSY_MS, readonly: true });
  try {
    assertMigrated(database, 'mirror');
  } catch (error) {
    database.close();
    throw error;
  }
  const db = new Kysely<MirrorTables>({
    dialect: new SqliteDialect({ database: withExactIntegers(database) }),
  });
  // Kysely closes a connection only if it has run a statement. This statement also forbids writes to attached files.
  await db.executeQuery(CompiledQuery.raw('PRAGMA query_only = ON'));
  return db;
}

/**
 * Adapts a connection for Kysely. The adapter returns an integer as bigint if a number cannot represent it exactly, and binds
 * whole numbers as integers.
 */
function withExactIntegers(database: Sqlite): SqliteDatabase {
  return {
    close: () => void database.close(),
    prepare: text => {
      const statement = database.prepare<unknown[], Record<string, Value>>(text);
      if (!statement.reader) return createWrite(() => statement.run());
      statement.safeIntegers();
      return {
        reader: true,
        all: values => statement.all(...values.map(toBoundInteger)).map(toSafeNumbers),
        iterate: values => iterateSafeNumbers(statement.iterate(...values.map(toBoundInteger))),
        run: () => ({ changes: 0, lastInsertRowid: 0 }),
      };
    },
  };
}

/** Creates a statement that returns no rows. If it writes, the read-only connection refuses it. */
function createWrite(run: SqliteStatement['run']): SqliteStatement {
  return { reader: false, run, all: () => [], iterate: () => iterateSafeNumbers([]) };
}

/** Yields rows with each bigint converted to a number if the number is exact. */
function* iterateSafeNumbers(rows: Iterable<Record<string, Value>>): IterableIterator<Record<string, Value>> {
  for (const row of rows) yield toSafeNumbers(row);
}

/** Converts a whole number to a bigint, because the driver binds a number as a float. Returns other values unchanged. */
function toBoundInteger(value: unknown): unknown {
  return Number.isSafeInteger(value) ? BigInt(Number(value)) : value;
}
