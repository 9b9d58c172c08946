import type { MirrorPort } from '../../../mirror/port.js';
import { LIST_RESOURCES } from '../../../resources/lists.js';
import { createMirrorStore } from '../../mirror/mirror.js';
import { databaseIn } from '../database.js';
import type { Postgres } from '../open.js';
import { createCertificates } from './certificates.js';
import { createWriteInstallation } from './installations.js';
import { createListRows } from './list-rows.js';
import { createListWork } from './list-writes.js';
import { createPages } from './pages.js';
import { createPeople } from './people.js';
import { createPerform } from './perform.js';
import { createProjects } from './projects.js';
import { createRemoval } from './removal.js';
import { createSyncs, type Work } from './syncs.js';

/** The mirror in a PostgreSQL that has been migrated. */
export function createMirrorPort(postgres: Postgres): MirrorPort {
  const { query } = postgres;
  const perform = createPerform(query);
  const syncs = createSyncs(perform);
  const works = new Map<string, ReturnType<typeof createListWork>>(
    LIST_RESOURCES.map(name => [name, createListWork(name)]),
  );

  return {
    ...createMirrorStore(databaseIn(postgres)),
    writeInstallation: createWriteInstallation(perform),
    pages: createPages(postgres),
    ...createListRows(postgres),
    commit: async (sync, changes, ending) => {
      const work = works.get(sync.request.resource)?.(changes, sync) ?? NO_WORK;
      const { answer, ...done } = await syncs.commit<{ versions?: readonly number[] }>(sync, work, ending);
      return { ...done, versions: answer.versions ?? [] };
    },
    closeSync: syncs.closeRow,
    ...createPeople(postgres),
    ...createProjects(syncs),
    ...createCertificates(postgres, perform, syncs),
    // Who sees the mirror sees the inbox too, by the view `freshness`: nothing is looked through, and nothing copied.
    freshnessFacts: async () => ({ workerSeenAt: null, oldestRead: null, announced: [] }),
    knownResources: async () => new Map(),
    keepFreshnessFacts: async (_facts, workerSeenAt) => {
      await query('UPDATE mirror.origin SET worker_seen_at = $1', [workerSeenAt]);
    },
    ...createRemoval(postgres, perform),
    close: postgres.close,
  };
}

const NO_WORK: Work = { statements: [], given: {} };
