import type { EvidencePort } from '../../evidence/port.js';
import { createCheckpointStore } from './checkpoints.js';
import type { EvidenceDatabase } from './evidence-database.js';
import { createLeafStore } from './leaves.js';
import { createMirrorChangeReader } from './mirror-changes.js';
import { createMirrorReads } from './mirror-reads.js';
import { createSealClaim } from './seal-claim.js';
import { createSealedReads } from './list-sealed-reads.js';

export function createEvidencePort(database: EvidenceDatabase): EvidencePort {
  const { listChanges, listVersions: versions } = createMirrorChangeReader(database);
  const { listSyncs, listEndedSpans, ...mirrorReads } = createMirrorReads(database);
  const observationLists = { change: listChanges, sync: listSyncs, unchanged: listEndedSpans };
  return {
    ...createSealClaim(database),
    ...createLeafStore(database),
    ...createSealedReads(database),
    ...createCheckpointStore(database),
    ...mirrorReads,
    listVersions: versions,
    listObservations: (kind, after, to) => observationLists[kind]({ after, to }),
    close: database.close,
  };
}
