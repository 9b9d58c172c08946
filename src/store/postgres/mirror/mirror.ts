import type { MirrorPort } from '../../../mirror/port.js';
import { createMirrorStore } from '../../mirror/mirror.js';
import { databaseIn } from '../database.js';
import type { Postgres } from '../open.js';
import { CERTIFICATE_FILES } from './certificates.js';

/** The mirror in a PostgreSQL that has been migrated. */
export function createMirrorPort(postgres: Postgres): MirrorPort {
  return {
    ...createMirrorStore(databaseIn(postgres), CERTIFICATE_FILES, []),
    // Who sees the mirror sees the inbox too, by the view `freshness`: nothing is looked through, and nothing copied.
    freshnessFacts: async () => ({ workerSeenAt: null, oldestRead: null, announced: [] }),
    knownResources: async () => new Map(),
    keepFreshnessFacts: async (_facts, workerSeenAt) => {
      await postgres.query('UPDATE mirror.origin SET worker_seen_at = $1', [workerSeenAt]);
    },
    close: postgres.close,
  };
}
