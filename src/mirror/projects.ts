import type { Project } from '../registry/model.js';
import type { ProjectsWalk } from './mirror.js';
import { formatInstant } from '../resources/columns.js';
import { PROJECTS } from '../resources/projects.js';
import type { MirrorPort, ProjectAnswer } from './port.js';
import type { Sync } from './sync.js';

/** What the registry answered for one project. */
export function projectAnswer(
  project: Project,
  asked: { readonly askedAt: number; readonly arrivedAt: number },
): ProjectAnswer {
  return {
    id: project.id,
    askedAt: asked.askedAt,
    observedAt: formatInstant(asked.arrivedAt),
    cells: PROJECTS.columns.map(cell => cell.getValue(project)),
    document: project.document,
  };
}

export function createProjectsWalk(
  port: MirrorPort,
  sync: Sync,
  organizationId: string,
  now: () => number,
): ProjectsWalk {
  return {
    before: sync.before,
    due: checkedBefore => port.listDueProjects(organizationId, checkedBefore, now()),
    write: async answers => {
      if (answers.length === 0) return [];
      const done = await port.writeProjects(sync.open(), answers, now());
      sync.note(done);
      return done.written;
    },
    finish: traffic => sync.end({ state: 'complete', fault: null, isInterrupted: false, ...traffic }),
    abandon: (fault, traffic) => sync.abandon(fault, traffic),
  };
}
