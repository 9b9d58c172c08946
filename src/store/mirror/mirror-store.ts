import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import type { Database } from '../statement.js';
import { type CertificateFiles, createCertificates } from './certificates.js';
import { createFreshnessReports } from './freshness-facts.js';
import { createInstallations } from './installations.js';
import { createCommits } from './commit-list.js';
import { createPersonRemoval } from './forget-people.js';
import { createProjects } from './projects.js';
import { createRemoval } from './purge-rows.js';
import { createRowReads } from './read-rows.js';
import { createListStates } from './list-states.js';
import { createOrigin } from './origin.js';
import { createSyncPruning } from './prune-syncs.js';

/**
 * Creates the `MirrorPort`, through which the program reads and writes the mirror, on a database of either engine. `files` are
 * the PDFs of certificates.
 */
export function createMirrorStore(database: Database, files: CertificateFiles): MirrorPort {
  return {
    ...createOrigin(database),
    ...createListStates(database),
    ...createFreshnessReports(database),
    ...createInstallations(database),
    ...createRowReads(database),
    ...createCommits(database),
    ...createPersonRemoval(database),
    ...createProjects(database),
    ...createCertificates(database, files),
    ...createRemoval(database, files),
    ...createSyncPruning(database),
  };
}
