import type { EvidencePort } from '../../evidence/port.js';
import { createCheckpointStore } from './checkpoints.js';
import type { EvidenceDatabase } from './evidence-database.js';
import { createLeafStore } from './leaves.js';
import { createMirrorChangeReader } from './mirror-changes.js';
import { createMirrorReads } from './mirror-reads.js';
import { createWriterLock } from './sealer-lock.js';
import { createSealedReads } from './sealed-reads.js';

/** Creates the `EvidencePort`, which reads and writes the evidence log, and reads the mirror whose changes the log records. */
export function createEvidencePort(database: EvidenceDatabase): EvidencePort {
  const { listChanges, listChangesByNumber } = createMirrorChangeReader(database);
  const { listSyncs, listEndedSpans, ...mirrorReads } = createMirrorReads(database);
  const numberedInputs = { change: listChanges, sync: listSyncs, unchanged: listEndedSpans };
  return {
    ...createWriterLock(database),
    ...createLeafStore(database),
    ...createSealedReads(database),
    ...createCheckpointStore(database),
    ...mirrorReads,
    listChangesByNumber,
    listNumberedInputs: (kind, after, to) => numberedInputs[kind]({ after, to }),
    close: database.close,
  };
}
