/**
 * The mirror is the copy of the registry's data in SQL, with the history of every row. Each read is recorded as one sync.
 * The mirror never calls the registry and never writes for a job that lost its claim. It removes a row only when a read
 * proves that the registry no longer has the row (see list/decide-removals.ts).
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { formatInstant } from '../resources/sql-values.js';
import { MirrorListReader } from './list/list-reader.js';
import type { Mirror, MirrorOptions } from './mirror.js';
import type { MirrorPort, PrunePosition, PruneProgress } from './port/mirror-port.js';
import { purgeOrganization } from './purge.js';
import { createProjectsSession, SyncSession } from './sync-session.js';
import { toInstallationColumns } from '../resources/installations.js';
import { LISTS } from '../resources/lists.js';
import { ENTRY_BY_RESOURCE, isResource } from '../resources/resources.js';

const DAY_MS = 86_400_000;

/** Creates the mirror: a copy of the registry's data with the history of every row. `port` is its database. */
export function createMirror(
  port: MirrorPort,
  now: () => number,
  { mirrorMembers }: MirrorOptions = { mirrorMembers: true },
): Mirror {
  const resources = Object.keys(ENTRY_BY_RESOURCE)
    .filter(isResource)
    .filter(resource => mirrorMembers || resource !== 'members');

  return {
    ...port,
    checkOrigin: origin => port.checkOrigin(origin, now()),
    raiseFence: claim => port.raiseFence(claim, now()),
    beginRead: async ({ hasNewDelivery, ...request }) => {
      const { resource, organizationId } = request;
      const sync = await SyncSession.begin({ port, part: 'data', now }, request, hasNewDelivery);
      const entry = LISTS[resource];
      return new MirrorListReader({ port, request, list: { organizationId, resource }, sync, entry, now });
    },
    beginProjects: async request => {
      const sync = await SyncSession.begin({ port, part: 'data', now }, { ...request, resource: 'projects' });
      return createProjectsSession(port, sync, request.organizationId, now);
    },
    writeInstallation: write => {
      const read = { ...write, endedAt: now(), resources };
      if ('installationId' in write) return port.writeInstallation(write.installationId, null, read);
      const { installation } = write;
      return port.writeInstallation(installation.id, toInstallationColumns(installation), read);
    },
    forget: email => port.forget(email, now()),
    removeMembers: async () => {
      while ((await port.removeRows('members')) > 0) await yieldToEventLoop();
    },
    purge: request => purgeOrganization(port, request),
    pruneSyncs: createSyncPruner(port),
  };
}

/**
 * Creates a function that deletes old rows of the table `syncs` in small batches. The function returns how many rows it
 * deleted.
 */
function createSyncPruner(port: MirrorPort): (endedBefore: number) => Promise<number> {
  return async endedBefore => {
    const bounds = {
      endedBefore: formatInstant(endedBefore),
      // The last day is checked again next time: later syncs may replace these, or the clock may be set back.
      settledBefore: formatInstant(endedBefore - DAY_MS),
    };
    let removed = 0;
    let position: PrunePosition | null = null;
    do {
      const progress: PruneProgress = await port.pruneSyncs({ ...bounds, position });
      removed += progress.removed;
      position = progress.next;
      await yieldToEventLoop();
    } while (position !== null);
    return removed;
  };
}
