import { setImmediate as pause } from 'node:timers/promises';
import { formatInstant } from '../resources/columns.js';
import { ListRead } from './list/list-read.js';
import type { Mirror, MirrorOptions } from './mirror.js';
import type { MirrorPort } from './port.js';
import { purge } from './purge.js';
import { createProjectsWalk } from './projects.js';
import { toInstallationColumns } from '../resources/installations.js';
import { LISTS } from '../resources/lists.js';
import { ENTRY_BY_RESOURCE, isResource } from '../resources/resources.js';
import { Sync } from './sync.js';

const DAY_MS = 86_400_000;

export function createMirror(
  port: MirrorPort,
  now: () => number,
  { members }: MirrorOptions = { members: true },
): Mirror {
  const resources = Object.keys(ENTRY_BY_RESOURCE)
    .filter(isResource)
    .filter(resource => members || resource !== 'members');

  return {
    ...port,
    checkOrigin: origin => port.checkOrigin(origin, now()),
    raiseFence: task => port.raiseFence(task, now()),
    beginRead: async ({ announced, ...request }) => {
      const { resource, organizationId } = request;
      const sync = await Sync.begin({ port, part: 'data', now }, request, announced);
      const entry = LISTS[resource];
      return new ListRead({ port, request, list: { organizationId, resource }, sync, entry, now });
    },
    beginProjects: async request => {
      const sync = await Sync.begin({ port, part: 'data', now }, { ...request, resource: 'projects' });
      return createProjectsWalk(port, sync, request.organizationId, now);
    },
    writeInstallation: sync => {
      const [id, row] =
        'installation' in sync
          ? [sync.installation.id, toInstallationColumns(sync.installation)]
          : [sync.installationId, null];
      return port.writeInstallation(id, row, { ...sync, endedAt: now(), resources });
    },
    forget: email => port.forget(email, now()),
    removeMembers: async () => {
      while ((await port.removeRows('members')) > 0) await pause();
    },
    purge: asked => purge(port, asked),
    pruneSyncs: createPruneSyncs(port),
  };
}

function createPruneSyncs(port: MirrorPort): (before: number) => Promise<number> {
  /** Everything that ended earlier was looked at already. */
  let lookedAtUntil = '0001-01-01T00:00:00.000Z';
  return async before => {
    let removed = 0;
    let next: { readonly after: string; readonly id: number } | null = { after: lookedAtUntil, id: 0 };
    while (next !== null) {
      const slice = await port.pruneSyncs(formatInstant(before), next);
      removed += slice.removed;
      next = slice.next;
      await pause();
    }
    lookedAtUntil = formatInstant(before - DAY_MS);
    return removed;
  };
}
