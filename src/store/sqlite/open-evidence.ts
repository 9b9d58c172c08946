import { existsSync } from 'node:fs';
import type { EvidencePort } from '../../evidence/port.js';
import type { Value } from '../contract/tables.js';
import { createEvidencePort } from '../evidence-log/create-evidence-port.js';
import type { RunBatch } from '../statement.js';
import { createBatch, createStatementRunner } from './database.js';
import { assertMigrated } from './migrate.js';
import { openDatabase, type Sqlite, runInTransaction } from './open-database.js';
import { toSafeNumbers } from './safe-integers.js';

/** How long a statement waits for a lock of SQLite. It may be long, because no person waits for the sealer. */
const BUSY_MS = 10_000;

/**
 * Opens the evidence log for writing, and the mirror that it is built from for reading. Returns null if the log was never
 * created, and throws unless its schema is migrated.
 */
export function openEvidence(evidenceFile: string, mirrorFile: string): EvidencePort | null {
  if (!existsSync(evidenceFile)) return null;
  const mirror = openDatabase(mirrorFile, { busyTimeoutMs: BUSY_MS, readonly: true });
  try {
    const evidence = openDatabase(evidenceFile, { busyTimeoutMs: BUSY_MS });
    assertMigrated(evidence, 'evidence');
    evidence.pragma('secure_delete = ON');
    return createPortOn(evidence, mirror);
  } catch (error) {
    mirror.close();
    throw error;
  }
}

/** Creates the `EvidencePort` on two open connections. Its `close` closes both. */
function createPortOn(evidence: Sqlite, mirror: Sqlite): EvidencePort {
  const { run } = createStatementRunner(evidence);
  return createEvidencePort({
    readMirror: createExactReader(mirror),
    runOnLog: createBatch(run),
    commitToLog: createBatch(all => runInTransaction(evidence, () => run(all))),
    close: async () => {
      evidence.pragma('wal_checkpoint(TRUNCATE)');
      evidence.close();
      mirror.close();
    },
  });
}

/**
 * Creates a `RunBatch` that reads a database and caches its prepared statements. In its rows, an integer is a bigint if a number
 * cannot represent it exactly.
 */
function createExactReader(db: Sqlite): RunBatch {
  const prepare = (text: string) => db.prepare<unknown[], Record<string, Value>>(text).safeIntegers();
  const prepared = new Map<string, ReturnType<typeof prepare>>();
  const read = (text: string, values: readonly Value[]) => {
    const statement = prepared.get(text) ?? prepare(text);
    prepared.set(text, statement);
    return statement.all(values).map(toSafeNumbers);
  };
  return createBatch(all => all.map(bound => (bound === null ? [] : read(bound.text, bound.values))));
}
