import { sql } from 'kysely';
import { type ConsistencyFault, summarizeFaults } from '../contract/finding.js';
import { checkLaws, createLaw, type Law, type LawListener } from '../laws/law.js';
import { LAWS } from '../laws/check-laws.js';
import { SCHEMA_LAW } from '../schema-objects.js';
import { select, sqlStatement } from '../sql/columns.js';
import { findSchemaChanges } from './find-schema-changes.js';
import { createBatch } from './database.js';
import type { Postgres } from './open-postgres.js';

const OWN_LAWS: readonly Law[] = [
  createLaw('every index and every condition holds all rows', () => {
    const violation = sql<string>`indexrelid::regclass::text`;
    return sqlStatement`SELECT ${select({ violation })} FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
      WHERE c.relnamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace) AND NOT (indisvalid AND indisready)
      UNION ALL SELECT conrelid::regclass || ', ' || conname FROM pg_constraint
      WHERE connamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace) AND NOT convalidated`;
  }),
];

/**
 * Checks the schema and all data laws, which are rules that all rows must fulfil. Returns the violations. All laws read the
 * same snapshot.
 */
export async function findConsistencyFaults(
  postgres: Postgres,
  now: number,
  onLaw?: LawListener,
): Promise<ConsistencyFault[]> {
  const broken = await postgres.transact(async (query, send) => {
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await query('SET LOCAL search_path = mirror');
    // The server notices within a second when the program has been ended.
    await query("SET LOCAL client_connection_check_interval = '1s'");
    return await checkLaws([...LAWS, ...OWN_LAWS], { now, read: createBatch(send), onLaw });
  });
  return [...summarizeFaults(SCHEMA_LAW, await findSchemaChanges(postgres)), ...broken];
}
