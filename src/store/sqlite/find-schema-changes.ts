import { existsSync } from 'node:fs';
import { type RawBuilder, sql } from 'kysely';
import { compareSchemas, type SchemaObject } from '../schema-objects.js';
import type { Family } from '../migrations.js';
import { select, sqlStatement } from '../sql/columns.js';
import { prepared } from '../sql/prepared.js';
import { Database } from './driver.js';
import { migrateNew } from './migrate.js';
import { closing, openDatabase, type Sqlite } from './open-database.js';
import { prepareOn } from './database.js';

const READER_BUSY_MS = 5_000;

/** Files of databases that may not exist. */
export type OptionalFiles = Partial<Readonly<Record<'evidence' | 'events', string>>>;

/** Compares `mirror.db` (the main database), `inbox.db` (attached) and the optional files that exist with their migrations. */
export function findSchemaChanges(db: Sqlite, optionalFiles: OptionalFiles): string[] {
  return [
    ...compareWithMigrations(db, 'main', 'mirror'),
    ...compareWithMigrations(db, 'inbox', 'inbox'),
    ...(['evidence', 'events'] as const).flatMap(family => compareFile(family, optionalFiles[family])),
  ];
}

function compareFile(family: Family, file: string | undefined): string[] {
  if (file === undefined || !existsSync(file)) return [];
  return closing(openDatabase(file, { busyTimeoutMs: READER_BUSY_MS, readonly: true }), opened =>
    compareWithMigrations(opened, 'main', family),
  );
}

/** Compares the schema with that of a new database. SQLite keeps the text of each CREATE statement. */
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
  return prepareOn(db, LIST_OBJECTS[database]).all({});
}

const prepareList = (schemaTable: RawBuilder<unknown>) =>
  prepared(
    () =>
      sqlStatement`SELECT ${select({
        kind: sql<string>`CASE WHEN sql LIKE 'CREATE UNIQUE INDEX%' THEN 'unique index' ELSE type END`,
        name: sql<string>`name`,
        definition: sql<string>`sql`,
      })} FROM ${schemaTable} WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite|_%' ESCAPE '|' ORDER BY kind, name`,
  );
const LIST_OBJECTS = {
  main: prepareList(sql`main.sqlite_schema`),
  inbox: prepareList(sql`inbox.sqlite_schema`),
};
