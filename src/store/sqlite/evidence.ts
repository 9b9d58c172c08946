import { existsSync } from 'node:fs';
import type { EvidencePort } from '../../evidence/port.js';
import { SQLITE } from '../dialect.js';
import { type RunSql, createEvidencePort, type SqlValues } from '../evidence.js';
import { demandSchema } from './migrate.js';
import { openDatabase, type Sqlite, write } from './open.js';

/** Nobody waits for who seals. */
const BUSY_MS = 10_000;

/** Null where nothing was ever sealed. The log on a connection of its own, and the mirror read-only: its writer is never kept waiting. */
export function openEvidence(evidenceFile: string, mirrorFile: string): EvidencePort | null {
  if (!existsSync(evidenceFile)) return null;
  const mirror = openDatabase(mirrorFile, { busyTimeoutMs: BUSY_MS, readonly: true });
  try {
    const evidence = openDatabase(evidenceFile, { busyTimeoutMs: BUSY_MS });
    demandSchema(evidence, 'evidence');
    evidence.pragma('secure_delete = ON');
    return portOf(evidence, mirror);
  } catch (error) {
    mirror.close();
    throw error;
  }
}

function portOf(evidence: Sqlite, mirror: Sqlite): EvidencePort {
  return createEvidencePort({
    dialect: SQLITE,
    mirror: askOf(mirror, true),
    log: askOf(evidence, false),
    insert: async ({ text, rows = [] }, then) => {
      const insertion = evidence.prepare(text);
      write(evidence, () => {
        for (const row of rows) insertion.run(row);
        if (then !== undefined) evidence.prepare(then.sql).run(numberValues(then.given));
      });
    },
    close: async () => {
      evidence.pragma('wal_checkpoint(TRUNCATE)');
      evidence.close();
      mirror.close();
    },
  });
}

/** Each statement is prepared once. Whole numbers of the registry may be larger than a number of ours holds. */
function askOf(db: Sqlite, hasLarge: boolean): RunSql {
  const prepare = (sql: string) => db.prepare<unknown[], never>(sql);
  const known = new Map<string, ReturnType<typeof prepare>>();
  return async (sql, given = []) => {
    const statement = known.get(sql) ?? prepare(sql);
    known.set(sql, statement);
    const values = numberValues(given);
    if (statement.reader) return statement.safeIntegers(hasLarge).all(values);
    write(db, () => void statement.run(values));
    return [];
  };
}

/** Names values by their numbers, as `$1` and `$2` refer to them. */
function numberValues(given: SqlValues) {
  return Object.fromEntries(given.map((value, index) => [index + 1, value]));
}
