import { existsSync } from 'node:fs';
import type { EvidencePort } from '../../evidence/port.js';
import { type Ask, createEvidencePort } from '../evidence.js';
import { DatabaseError } from './errors.js';
import { demandSchema } from './migrate.js';
import { openDatabase, type Sqlite, write } from './open.js';

/** Nobody waits for who seals. */
const BUSY_MS = 10_000;
const MADE_BY = '"carbon-mirror work" makes it where EVIDENCE_KEY_FILE is set';

/** The log on a connection of its own, and the mirror read-only: its writer is never kept waiting. */
export function openEvidence(evidenceFile: string, mirrorFile: string): EvidencePort {
  if (!existsSync(evidenceFile))
    throw new DatabaseError('schema', evidenceFile, `there is no ${evidenceFile}: ${MADE_BY}`);
  const mirror = openDatabase(mirrorFile, { busyTimeoutMs: BUSY_MS, readonly: true });
  try {
    const evidence = openDatabase(evidenceFile, { busyTimeoutMs: BUSY_MS });
    demandSchema(evidence, 'evidence');
    return portOf(evidence, mirror);
  } catch (error) {
    mirror.close();
    throw error;
  }
}

function portOf(evidence: Sqlite, mirror: Sqlite): EvidencePort {
  const append = evidence.prepare('INSERT INTO leaves VALUES (?, ?, ?, ?, ?, ?)');
  const keep = evidence.prepare('INSERT INTO checkpoints VALUES (?, ?, ?)');
  return createEvidencePort({
    ask: { mirror: askOf(mirror), evidence: askOf(evidence) },
    schema: { mirror: '', evidence: '' },
    append: async leaves =>
      write(evidence, () => {
        for (const { place, kind, number, subject, salt, commitment } of leaves)
          append.run(place, kind, number, subject, salt, commitment);
      }),
    keep: async ({ size, peaks, note }) => write(evidence, () => void keep.run(size, peaks, note)),
    close: async () => {
      evidence.close();
      mirror.close();
    },
  });
}

/** Whole numbers come as they are, however large. */
function askOf(db: Sqlite): Ask {
  return async <Row extends object>(sql: string, given: readonly (string | number)[] = []) =>
    db
      .prepare<unknown[], Row>(sql)
      .safeIntegers()
      .all(Object.fromEntries(given.map((value, place) => [place + 1, value])));
}
