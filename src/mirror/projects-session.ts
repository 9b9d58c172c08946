import type { Project } from '../registry/object-models.js';
import type { ProjectsSession } from './mirror.js';
import { formatInstant } from '../resources/sql-values.js';
import { PROJECTS } from '../resources/projects.js';
import type { MirrorPort } from './port/mirror-port.js';
import type { ProjectAnswer } from './port/projects.js';
import type { SyncSession } from './sync-session.js';

/** Creates the record to store for a project: its column values, its JSON and when it was requested and received. */
export function createProjectAnswer(
  project: Project,
  { requestedAt, arrivedAt }: { readonly requestedAt: number; readonly arrivedAt: number },
): ProjectAnswer {
  return {
    id: project.id,
    requestedAt,
    observedAt: formatInstant(arrivedAt),
    cells: PROJECTS.columns.map(column => column.getValue(project)),
    document: project.document,
  };
}

/**
 * Creates the object through which a sync reads the projects of one organization. It says which projects to request and stores the
 * responses; the caller sends the requests.
 */
export function createProjectsSession(
  port: MirrorPort,
  sync: SyncSession,
  organizationId: string,
  now: () => number,
): ProjectsSession {
  return {
    previousRead: sync.previousState,
    listDue: checkedBefore => port.listDueProjects(organizationId, checkedBefore, now()),
    write: async answers => {
      if (answers.length === 0) return [];
      const result = await port.writeProjects(sync.toOpenSync(), answers, now());
      sync.recordCommit(result);
      return result.written;
    },
    finish: traffic => sync.finish({ state: 'complete', fault: null, isInterrupted: false, ...traffic }),
    abandon: (fault, traffic) => sync.abandon(fault, traffic),
  };
}
