import { type ConsistencyFault, firstOf } from '../contract/broken.js';
import { POSTGRES } from '../dialect.js';
import { findBreaks, type Law, type LawListener } from '../laws/law.js';
import { lawsIn } from '../laws/laws.js';
import { SCHEMA_LAW } from '../schema-objects.js';
import { findSchemaChanges } from './compare-schema.js';
import type { Postgres } from './open.js';

const OWN_LAWS: readonly Law[] = [
  {
    law: 'every index and every condition holds all rows',
    sql: `SELECT indexrelid::regclass::text AS found FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
      WHERE c.relnamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace) AND NOT (indisvalid AND indisready)
      UNION ALL SELECT conrelid::regclass || ', ' || conname FROM pg_constraint
      WHERE connamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace) AND NOT convalidated`,
  },
];
const LAWS: readonly Law[] = [...lawsIn(POSTGRES), ...OWN_LAWS];

/** What must hold in any mirror at any moment, whatever the registry said, all of it seen at one moment. */
export async function findBroken(
  postgres: Postgres,
  now: number,
  onLaw?: LawListener,
): Promise<ConsistencyFault[]> {
  const broken = await postgres.transact(async query => {
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await query('SET LOCAL search_path = mirror');
    // The server notices within a second when the program has been ended.
    await query("SET LOCAL client_connection_check_interval = '1s'");
    return await findBreaks(LAWS, { dialect: POSTGRES, now, ask: query, onLaw });
  });
  return [...firstOf(SCHEMA_LAW, await findSchemaChanges(postgres)), ...broken];
}
