import { sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/current.js';
import { type ConsistencyFault, summarizeFaults, MAX_SHOWN_FAULTS } from '../contract/finding.js';
import { checkLaws, createLaw, describeRow, keyColumns, type Law, type LawListener } from '../laws/law.js';
import { LAWS } from '../laws/check-laws.js';
import { SCHEMA_LAW } from '../schema-objects.js';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { findSchemaChanges, type OptionalDatabaseFiles } from './find-schema-changes.js';
import { createBatch, createStatementRunner } from './database.js';
import { type DatabaseFiles, openReadOnly } from './open-read-only.js';
import type { Sqlite } from './open-database.js';

const INSTANT =
  '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]Z';

/** SQLite stores instants as text. On PostgreSQL their type ensures the same. */
const INSTANT_LAWS: readonly Law[] = RESOURCES.map(resource => {
  const history = tableRef(`mirror.${resource.table}_history`);
  const violation = describeRow(...keyColumns(resource));
  return createLaw(
    `the dates of each version of ${resource.table} are valid instants`,
    () => sqlStatement`SELECT ${select({ violation })} FROM ${history()}
      WHERE ${history.valid_from} NOT GLOB ${sql.lit(INSTANT)} OR ${history.valid_to} NOT GLOB ${sql.lit(INSTANT)}`,
  );
});

/** Checks the integrity and the schema of both databases, and every data law. A data law is a rule that all rows must fulfil. */
export async function findConsistencyFaults(
  files: DatabaseFiles,
  now: number,
  optionalFiles: OptionalDatabaseFiles = {},
  onLaw?: LawListener,
): Promise<ConsistencyFault[]> {
  const db = openReadOnly(files);
  try {
    const read = createBatch(createStatementRunner(db).run);
    return [
      ...checkIntegrity(db),
      ...summarizeFaults(SCHEMA_LAW, findSchemaChanges(db, optionalFiles)),
      ...(await checkLaws([...LAWS, ...INSTANT_LAWS], { now, read, onLaw })),
    ];
  } finally {
    db.close();
  }
}

/** Runs the checks of SQLite for damage and for broken foreign keys on both databases. */
function checkIntegrity(db: Sqlite): ConsistencyFault[] {
  const found: ConsistencyFault[] = [];
  for (const name of ['main', 'inbox'] as const) {
    const answers = db
      .prepare<[], string>(`PRAGMA ${name}.integrity_check(${MAX_SHOWN_FAULTS})`)
      .pluck()
      .all();
    for (const answer of answers) {
      if (answer !== 'ok') found.push({ law: `SQLite finds ${getFileName(name)} whole`, where: answer });
    }
    const foreign = db.prepare<[], { table: string }>(`PRAGMA ${name}.foreign_key_check`).all();
    const tables = foreign.map(({ table }) => table);
    found.push(...summarizeFaults(`foreign keys of ${getFileName(name)} are kept`, tables));
  }
  return found;
}

function getFileName(name: 'main' | 'inbox'): string {
  return name === 'main' ? 'mirror.db' : 'inbox.db';
}
