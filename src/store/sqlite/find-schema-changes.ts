import { existsSync } from 'node:fs';
import { type RawBuilder, sql } from 'kysely';
import { compareSchemas, type SchemaObject } from '../schema-objects.js';
import type { DatabaseName } from '../migrations.js';
import { select, sqlStatement } from '../sql/columns.js';
import { prepared } from '../sql/prepared.js';
import { Database } from './driver.js';
import { createSchema } from './migrate.js';
import { withDatabase, openDatabase, type Sqlite } from './open-database.js';
import { prepareOn } from './database.js';

const READER_BUSY_MS = 5_000;

/** The paths of the database files for the evidence log and the events, which may not exist. */
export type OptionalDatabaseFiles = Partial<Readonly<Record<'evidence' | 'events', string>>>;

/**
 * Describes how the schemas of the databases differ from those that the migrations create. `db` is mirror.db with inbox.db
 * attached.
 */
export function findSchemaChanges(db: Sqlite, optionalFiles: OptionalDatabaseFiles): string[] {
  return [
    ...compareWithMigrations(db, 'main', 'mirror'),
    ...compareWithMigrations(db, 'inbox', 'inbox'),
    ...(['evidence', 'events'] as const).flatMap(database =>
      compareOptionalFile(database, optionalFiles[database]),
    ),
  ];
}

/** Compares the schema of a database file with its migrations. Finds no differences if the file does not exist. */
function compareOptionalFile(database: DatabaseName, file: string | undefined): string[] {
  if (file === undefined || !existsSync(file)) return [];
  return withDatabase(openDatabase(file, { busyTimeoutMs: READER_BUSY_MS, readonly: true }), opened =>
    compareWithMigrations(opened, 'main', database),
  );
}

/**
 * Compares each CREATE statement of a database with those of its migrations, and describes the differences. `schema` is the name
 * of the database on the connection `db`.
 */
function compareWithMigrations(db: Sqlite, schema: 'main' | 'inbox', database: DatabaseName): string[] {
  const fresh = new Database(':memory:');
  try {
    createSchema(fresh, database);
    const expected = describeObjects(fresh, 'main');
    return compareSchemas(expected, describeObjects(db, schema)).map(each => `${database}.db: ${each}`);
  } finally {
    fresh.close();
  }
}

/** Lists the tables, views, indexes and triggers of a database on a connection. */
function describeObjects(db: Sqlite, schema: 'main' | 'inbox'): SchemaObject[] {
  return prepareOn(db, LIST_OBJECTS[schema]).all({});
}

const prepareObjectList = (schemaTable: RawBuilder<unknown>) =>
  prepared(
    () =>
      sqlStatement`SELECT ${select({
        kind: sql<string>`CASE WHEN sql LIKE 'CREATE UNIQUE INDEX%' THEN 'unique index' ELSE type END`,
        name: sql<string>`name`,
        definition: sql<string>`sql`,
      })} FROM ${schemaTable} WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite|_%' ESCAPE '|' ORDER BY kind, name`,
  );
const LIST_OBJECTS = {
  main: prepareObjectList(sql`main.sqlite_schema`),
  inbox: prepareObjectList(sql`inbox.sqlite_schema`),
};
