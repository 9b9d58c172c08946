import { existsSync } from 'node:fs';
import { compareSchemas, type SchemaObject } from '../schema-objects.js';
import type { Family } from '../migrations.js';
import { Database } from './driver.js';
import { migrateNew } from './migrate.js';
import { closing, openDatabase, type Sqlite } from './open.js';

const READER_BUSY_MS = 5_000;

/** Compares `mirror.db` (the main database), `inbox.db` (attached) and, where there is one, `evidence.db` with their migrations. */
export function findSchemaChanges(db: Sqlite, evidenceFile: string | null): string[] {
  const evidence =
    evidenceFile === null || !existsSync(evidenceFile)
      ? []
      : closing(openDatabase(evidenceFile, { busyTimeoutMs: READER_BUSY_MS, readonly: true }), opened =>
          compareWithMigrations(opened, 'main', 'evidence'),
        );
  return [
    ...compareWithMigrations(db, 'main', 'mirror'),
    ...compareWithMigrations(db, 'inbox', 'inbox'),
    ...evidence,
  ];
}

/** SQLite keeps the text of each statement that made an object, so the texts of a new database are the same. */
function compareWithMigrations(db: Sqlite, database: 'main' | 'inbox', family: Family): string[] {
  const fresh = new Database(':memory:');
  try {
    migrateNew(fresh, family);
    const expected = describeObjects(fresh, 'main');
    return compareSchemas(expected, describeObjects(db, database)).map(each => `${family}.db: ${each}`);
  } finally {
    fresh.close();
  }
}

function describeObjects(db: Sqlite, database: 'main' | 'inbox'): SchemaObject[] {
  const statement = db.prepare<[], SchemaObject>(
    `SELECT CASE WHEN sql LIKE 'CREATE UNIQUE INDEX%' THEN 'unique index' ELSE type END AS kind, name, sql AS definition
     FROM ${database}.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY kind, name`,
  );
  return statement.all();
}
