import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import type { Database } from '../statement.js';
import { type CertificateFiles, createCertificates } from './certificates.js';
import { createFacts } from './freshness-facts.js';
import { createInstallations } from './installations.js';
import { createCommit } from './commit-list.js';
import { createPeople } from './forget-people.js';
import { createProjects } from './projects.js';
import { createRemoval } from './purge-rows.js';
import { createRows } from './read-rows.js';
import { createStates } from './list-states.js';
import { createOrigin } from './origin.js';
import { createSyncPruning } from './prune-syncs.js';

/** Creates the mirror port on a database of either engine. */
export function createMirrorStore(database: Database, files: CertificateFiles): MirrorPort {
  return {
    ...createOrigin(database),
    ...createStates(database),
    ...createFacts(database),
    ...createInstallations(database),
    ...createRows(database),
    ...createCommit(database),
    ...createPeople(database),
    ...createProjects(database),
    ...createCertificates(database, files),
    ...createRemoval(database, files),
    ...createSyncPruning(database),
  };
}
