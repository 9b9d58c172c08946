import { LONGEST_LOG_BYTES } from '../log-state.js';
import type { Sqlite } from '../open.js';
import { databaseOn } from '../database.js';
import { createMirrorStore } from '../../mirror/mirror.js';
import type { MirrorPort } from '../../../mirror/port.js';
import { createFactRows } from './freshness-facts.js';
import { createSyncRows } from './sync-rows.js';
import { createCertificates } from './certificates.js';
import { type CertificateFiles, createCertificateFiles, createUnnamedFiles } from './files.js';
import { createInstallations } from './installations.js';
import { createListRows, forEachList } from './list-rows.js';
import { createCommit } from './list-writes.js';
import { type Call, type MirrorOperations, portOf } from './operations.js';
import { createPages } from './pages.js';
import { createPeople } from './people.js';
import { createProjects } from './projects.js';
import { createRemoval } from './removal.js';
import { createSyncs } from './syncs.js';

/** Keys come in no order: a cache that holds their index makes a first read of a long list twice as fast. */
const CACHE_KB = 32_000;

export function createMirrorOperations(db: Sqlite, files: CertificateFiles): MirrorOperations {
  db.pragma(`cache_size = -${CACHE_KB}`);
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  // Keys come in no order, and what many commits touch is moved once.
  db.pragma(`wal_autocheckpoint = ${Math.round(LONGEST_LOG_BYTES / pageBytes)}`);
  const syncRows = createSyncRows(db);
  const pages = createPages(db);
  const people = createPeople(db);
  const syncs = createSyncs(syncRows, people.mayKeep);
  const unnamed = createUnnamedFiles(db, files);
  const listOf = forEachList(resource => createListRows(db, resource));

  return {
    writeInstallation: createInstallations(db, syncRows),
    pages: pages.from,
    find: ({ organizationId, resource }, keys, versions) => [
      ...listOf(resource).among(organizationId, versions),
      ...listOf(resource).find(organizationId, keys),
    ],
    cells: ({ organizationId, resource }, versions) => listOf(resource).cells(organizationId, versions),
    after: ({ organizationId, resource }, key, limit) => listOf(resource).after(organizationId, key, limit),
    commit: createCommit(db, { syncRows, syncs, pages, people }),
    closeSync: syncs.closeRow,
    forgottenPeople: people.forgottenPeople,
    ...createProjects(syncRows, syncs),
    ...createCertificates(syncRows, syncs, files),
    removeUnnamedFiles: unnamed.remove,
    ...createFactRows(db),
    forget: people.forget,
    ...createRemoval(db, syncRows, unnamed),
    close: () => void db.close(),
  };
}

/** Operations on a connection of this thread, each in its turn. */
export function createCall(db: Sqlite, certificates: string): Call {
  const operations = createMirrorOperations(db, createCertificateFiles(certificates));
  return async (name, given) => {
    const done = await db.turns.take();
    try {
      return operations[name](...given);
    } finally {
      done();
    }
  };
}

export function createMirrorPort(db: Sqlite, certificates: string): MirrorPort {
  return {
    ...portOf(createCall(db, certificates)),
    ...createMirrorStore(databaseOn(db)),
  };
}
