import type { Project } from '../registry/model.js';
import { type Column, column, formatInstant, text } from './columns.js';
import type { Fault, MirrorPort, ProjectAnswer, ProjectWritten, Traffic } from './port.js';
import type { SyncRun } from './sync-run.js';

/** The first is the key. */
export const PROJECT_COLUMNS: readonly Column<Project>[] = [
  column('id', item => item.id),
  column('num', item => text(item.num)),
  column('full_name', item => text(item.fullName)),
  column('short_description', item => text(item.shortDescription)),
  column('status', item => text(item.status)),
  column('registry', item => text(item.registry)),
  column('country_code', item => text(item.countryCode)),
  column('sector', item => text(item.sector)),
  column('methodology', item => text(item.methodology)),
  column('type', item => text(item.type)),
  column('start_date', item => text(item.startDate)),
];

/** One organization's walk over the projects that its rows name. Projects belong to nobody: all share the rows. */
export interface ProjectsWalk {
  /** Projects that were never asked for, or not since that instant. */
  due(checkedBefore: number): Promise<string[]>;
  write(answers: readonly ProjectAnswer[]): Promise<readonly ProjectWritten[]>;
  finish(traffic: Traffic): Promise<void>;
  abandon(fault: Fault, traffic: Traffic): Promise<void>;
}

/** What the registry answered for one project. */
export function projectAnswer(
  project: Project,
  asked: { readonly askedAt: number; readonly arrivedAt: number },
): ProjectAnswer {
  return {
    id: project.id,
    askedAt: asked.askedAt,
    told: formatInstant(asked.arrivedAt),
    cells: PROJECT_COLUMNS.slice(1).map(cell => cell.of(project)),
    document: project.document,
  };
}

export function createProjectsWalk(
  port: MirrorPort,
  run: SyncRun,
  organizationId: string,
  now: () => number,
): ProjectsWalk {
  return {
    due: checkedBefore => port.dueProjects(organizationId, checkedBefore, now()),
    write: async answers => {
      if (answers.length === 0) return [];
      const { written } = await run.write(open => port.writeProjects(open, answers, now()));
      return written;
    },
    finish: async traffic => {
      await run.end({ state: 'complete', fault: null, isInterrupted: false, ...traffic });
    },
    abandon: (fault, traffic) => run.abandon(fault, traffic),
  };
}
