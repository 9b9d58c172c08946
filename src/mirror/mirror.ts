import { setImmediate as pause } from 'node:timers/promises';
import { formatInstant } from '../resources/columns.js';
import { ListRead, type Read } from './list-read.js';
import { Pace } from './pace.js';
import type { Cause, MirrorPort, Purged, RunRequest, Task, Written } from './port.js';
import { type Purge, purge } from './purge.js';
import { createProjectsWalk, type ProjectsWalk } from './projects.js';
import { fieldsOf, type InstallationRow } from '../resources/installations.js';
import { type Items, type ListResource, LISTS } from '../resources/lists.js';
import { ENTRY_OF, isResource } from '../resources/resources.js';
import type { Installation } from '../registry/model.js';
import type { InstallationState } from '../engines/contract/mirror-rows.js';
import { SyncRun } from './sync-run.js';

export interface ReadRequest<Name extends ListResource> extends RunRequest {
  readonly resource: Name;
}

export interface InstallationLook {
  readonly state: InstallationState;
  readonly claim: number;
  readonly startedAt: number;
  /** When the registry's answer had arrived. */
  readonly arrivedAt: number;
  readonly trigger: string;
  readonly cause?: Cause;
}

type Kept =
  | 'setSchedule'
  | 'highestClaim'
  | 'findInstallation'
  | 'listInstallations'
  | 'lastReads'
  | 'announcements'
  | 'watchedResources'
  | 'announce'
  | 'mark';

/** Everything that writes the mirror, but for certificates. */
export interface Mirror extends Pick<MirrorPort, Kept> {
  /** Throws `foreign_registry` if the mirror was filled from another registry or app. */
  checkOrigin(baseUrl: string, appId: string): Promise<void>;
  /** At the start of every claim: refuses older ones from now on, and ends the runs that they left open. */
  raiseFence(task: Task): Promise<void>;
  beginRead<Name extends ListResource>(request: ReadRequest<Name>): Promise<Read<Items[Name]>>;
  beginProjects(request: Omit<RunRequest, 'resource'>): Promise<ProjectsWalk>;
  writeInstallation(look: InstallationLook & { readonly installation: Installation }): Promise<Written>;
  /** For an installation that the registry does not show any more; unchanged where it was never seen. */
  writeInstallationState(look: InstallationLook & { readonly installationId: string }): Promise<Written>;
  forget(email: string): Promise<number>;
  /** Removes all members, past ones too, and what is said of them. */
  removeMembers(): Promise<void>;
  /** Removes all that was mirrored for an organization, with its certificate files. */
  purge(purge: Purge): Promise<Purged>;
  /** Runs that wrote rows stay, and the last complete one of each resource and UTC day. */
  pruneRuns(before: number): Promise<number>;
}

export interface MirrorOptions {
  /** False keeps members out, and what is said of them too. */
  readonly members: boolean;
}

const DAY_MS = 86_400_000;

export function createMirror(
  port: MirrorPort,
  now: () => number,
  { members }: MirrorOptions = { members: true },
): Mirror {
  const resources = Object.keys(ENTRY_OF)
    .filter(isResource)
    .filter(resource => members || resource !== 'members');
  const pace = new Pace();

  function writeInstallation(
    id: string,
    row: InstallationRow | null,
    look: InstallationLook,
  ): Promise<Written> {
    return port.writeInstallation(id, row, { ...look, endedAt: now(), resources });
  }

  return {
    setSchedule: port.setSchedule,
    highestClaim: port.highestClaim,
    findInstallation: port.findInstallation,
    listInstallations: port.listInstallations,
    lastReads: port.lastReads,
    announcements: port.announcements,
    watchedResources: port.watchedResources,
    announce: port.announce,
    mark: port.mark,
    checkOrigin: (baseUrl, appId) => port.checkOrigin(baseUrl, appId, now()),
    raiseFence: task => port.raiseFence(task, now()),
    beginRead: async request => {
      const { resource, organizationId } = request;
      const run = await SyncRun.begin({ port, lane: 'data', now }, request);
      const entry = LISTS[resource];
      return new ListRead({ port, request, list: { organizationId, resource }, run, entry, pace, now });
    },
    beginProjects: async request => {
      const run = await SyncRun.begin({ port, lane: 'data', now }, { ...request, resource: 'projects' });
      return createProjectsWalk(port, run, request.organizationId, now);
    },
    writeInstallation: ({ installation, ...look }) =>
      writeInstallation(installation.id, fieldsOf(installation), look),
    writeInstallationState: ({ installationId, ...look }) => writeInstallation(installationId, null, look),
    forget: email => port.forget(email, now()),
    removeMembers: async () => {
      while ((await port.removeMembers()) > 0) await pause();
    },
    purge: asked => purge(port, asked),
    pruneRuns: createPruneRuns(port),
  };
}

function createPruneRuns(port: MirrorPort): (before: number) => Promise<number> {
  /** Everything that ended earlier was looked at already. */
  let lookedAtUntil = '';
  return async before => {
    let removed = 0;
    let next: { readonly after: string; readonly id: number } | null = { after: lookedAtUntil, id: 0 };
    while (next !== null) {
      const slice = await port.pruneRuns(formatInstant(before), next);
      removed += slice.removed;
      next = slice.next;
      await pause();
    }
    lookedAtUntil = formatInstant(before - DAY_MS);
    return removed;
  };
}
