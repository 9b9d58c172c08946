import { type ConsistencyFault, firstOf, SHOWN } from '../contract/broken.js';
import { SCHEMA_LAW } from '../schema-objects.js';
import { findSchemaChanges } from './compare-schema.js';
import { type Files, openBoth } from './open-both.js';
import type { Sqlite } from './open.js';
import { SQLITE } from '../dialect.js';
import { findBreaks, type LawBreakRow, KEYS, type Law, type LawListener } from '../laws/law.js';
import { lawsIn } from '../laws/laws.js';

const INSTANT =
  '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]Z';

/** Instants are texts of one form: elsewhere their type says so. */
const INSTANT_LAWS: readonly Law[] = Object.entries(KEYS).map(([table, key]) => ({
  law: `the dates of each version of ${table} are valid instants`,
  sql: `SELECT ${key.join(` || ', ' || `)} AS found FROM ${table}_history
    WHERE valid_from NOT GLOB '${INSTANT}' OR valid_to NOT GLOB '${INSTANT}'`,
}));
const LAWS: readonly Law[] = [...lawsIn(SQLITE), ...INSTANT_LAWS];

/** What must hold in any mirror at any moment, whatever the registry said. */
export async function findBroken(
  files: Files,
  now: number,
  evidenceFile: string | null = null,
  onLaw?: LawListener,
): Promise<ConsistencyFault[]> {
  const db = openBoth(files);
  try {
    const ask = async (sql: string) => db.prepare<[], LawBreakRow>(sql).all();
    return [
      ...structure(db),
      ...firstOf(SCHEMA_LAW, findSchemaChanges(db, evidenceFile)),
      ...(await findBreaks(LAWS, { dialect: SQLITE, now, ask, onLaw })),
    ];
  } finally {
    db.close();
  }
}

function structure(db: Sqlite): ConsistencyFault[] {
  const found: ConsistencyFault[] = [];
  for (const name of ['main', 'inbox'] as const) {
    const answers = db.prepare<[], string>(`PRAGMA ${name}.integrity_check(${SHOWN})`).pluck().all();
    for (const answer of answers) {
      if (answer !== 'ok') found.push({ law: `SQLite finds ${fileOf(name)} whole`, where: answer });
    }
    const foreign = db.prepare<[], { table: string }>(`PRAGMA ${name}.foreign_key_check`).all();
    const tables = foreign.map(({ table }) => table);
    found.push(...firstOf(`foreign keys of ${fileOf(name)} are kept`, tables));
  }
  return found;
}

function fileOf(name: 'main' | 'inbox'): string {
  return name === 'main' ? 'mirror.db' : 'inbox.db';
}
