import { existsSync } from 'node:fs';
import type { EvidencePort } from '../../evidence/port.js';
import { type Ask, createEvidencePort } from '../evidence.js';
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
  const append = evidence.prepare('INSERT INTO leaves VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const keep = evidence.prepare('INSERT INTO checkpoints VALUES (?, ?, ?)');
  return createEvidencePort({
    ask: { mirror: askOf(mirror), evidence: askOf(evidence) },
    schema: { mirror: '', evidence: '' },
    append: async leaves =>
      write(evidence, () => {
        for (const { place, kind, number, subject, resource, record, salt, commitment } of leaves)
          append.run(place, kind, number, subject, resource, record, salt, commitment);
      }),
    change: async (sql, given) => write(evidence, () => void evidence.prepare(sql).run(placed(given))),
    keep: async ({ size, peaks, note }) => write(evidence, () => void keep.run(size, peaks, note)),
    close: async () => {
      evidence.pragma('wal_checkpoint(TRUNCATE)');
      evidence.close();
      mirror.close();
    },
  });
}

/** Whole numbers come as they are, however large. */
function askOf(db: Sqlite): Ask {
  return async <Row extends object>(sql: string, given: readonly (string | number)[] = []) =>
    db.prepare<unknown[], Row>(sql).safeIntegers().all(placed(given));
}

function placed(given: readonly (string | number)[]): Record<string, string | number> {
  return Object.fromEntries(given.map((value, place) => [place + 1, value]));
}
