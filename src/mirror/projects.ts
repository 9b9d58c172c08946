import type { Project } from '../registry/model.js';
import type { Books, Fault, RunRequest } from './books.js';
import { type Column, column, formatInstant, text, type Value } from './columns.js';
import { Run, type Traffic } from './run.js';

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

/** older: a newer answer has been written already. */
export type ProjectWritten = 'added' | 'changed' | 'unchanged' | 'older';

/** One organization's walk over the projects that its rows name. Projects belong to nobody: all share the rows. */
export interface ProjectsWalk {
  /** Projects that were never asked for, or not since that instant, or in the future of a clock that has been put right. */
  due(checkedBefore: number): string[];
  write(project: Project, asked: { readonly askedAt: number; readonly arrivedAt: number }): ProjectWritten;
  /** The registry does not show it to us. A copy from better days stays. */
  unavailable(projectId: string, error: string, askedAt: number): void;
  finish(traffic: Traffic): void;
  abandon(fault: Fault, traffic: Traffic): void;
}

interface Stored {
  version: number;
  document: string;
  valid_from: string;
}

export function createProjects(
  books: Books,
  now: () => number,
): (request: Omit<RunRequest, 'resource'>) => ProjectsWalk {
  const { db } = books;
  const names = [
    'version',
    ...PROJECT_COLUMNS.map(cell => cell.name),
    'valid_from',
    'sync_run_id',
    'document',
  ];
  const whole = names.join(', ');
  const due = db
    .prepare<[string, string, string], string>(
      `SELECT r.project_id FROM project_references AS r
       LEFT JOIN project_states AS s ON s.project_id = r.project_id
       WHERE r.organization_id = ? AND (s.checked_at IS NULL OR s.checked_at < ? OR s.checked_at > ?)
       ORDER BY r.project_id`,
    )
    .pluck();
  const find = db.prepare<[string], Stored>(
    'SELECT version, document, valid_from FROM projects WHERE id = ?',
  );
  const checked = db
    .prepare<[string], string>('SELECT checked_at FROM project_states WHERE project_id = ?')
    .pluck();
  const lastEnd = db
    .prepare<[string], string | null>('SELECT max(valid_to) FROM projects_past WHERE id = ?')
    .pluck();
  const insert = db.prepare<Value[]>(
    `INSERT INTO projects (${whole}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const archive = db.prepare<[string, number, number]>(
    `INSERT INTO projects_past (${whole}, valid_to, closed_by) SELECT ${whole}, ?, ? FROM projects WHERE version = ?`,
  );
  const remove = db.prepare<[number]>('DELETE FROM projects WHERE version = ?');
  const check = db.prepare<[string, string, string, string | null]>(
    `INSERT INTO project_states VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET state = excluded.state, checked_at = excluded.checked_at, error = excluded.error`,
  );

  function isOlder(projectId: string, askedAt: number): boolean {
    const checkedAt = checked.get(projectId) ?? '';
    return checkedAt > formatInstant(askedAt) && checkedAt <= formatInstant(now());
  }

  function lastInstant(projectId: string, stored: Stored | undefined): string | null {
    return stored?.valid_from ?? lastEnd.get(projectId) ?? null;
  }

  function replace(project: Project, stored: Stored | undefined, at: string, runId: number): void {
    if (stored !== undefined) {
      archive.run(at, runId, stored.version);
      remove.run(stored.version);
    }
    const values = PROJECT_COLUMNS.map(cell => cell.of(project));
    insert.run(books.versions(1), ...values, at, runId, project.document);
  }

  return request => {
    const run = new Run(books, { ...request, resource: 'projects' }, 'data', now);
    return {
      due: checkedBefore =>
        due.all(request.organizationId, formatInstant(checkedBefore), formatInstant(now())),
      write: (project, { askedAt, arrivedAt }) => {
        const state: { outcome: ProjectWritten } = { outcome: 'older' };
        run.write(runId => {
          if (isOlder(project.id, askedAt)) return {};
          const stored = find.get(project.id);
          state.outcome = compare(stored, project);
          if (state.outcome !== 'unchanged') {
            const at = run.dates.give(formatInstant(arrivedAt), lastInstant(project.id, stored));
            replace(project, stored, at, runId);
          }
          check.run(project.id, 'readable', formatInstant(askedAt), null);
          return { added: Number(state.outcome === 'added'), changed: Number(state.outcome === 'changed') };
        });
        if (state.outcome === 'unchanged') run.counts.unchanged += 1;
        return state.outcome;
      },
      unavailable: (projectId, error, askedAt) =>
        run.write(() => {
          if (!isOlder(projectId, askedAt))
            check.run(projectId, 'unavailable', formatInstant(askedAt), error);
          return {};
        }),
      finish: traffic => void run.end({ state: 'complete', fault: null, isInterrupted: false, ...traffic }),
      abandon: (fault, traffic) => run.abandon(fault, traffic),
    };
  };
}

function compare(stored: Stored | undefined, project: Project): 'added' | 'changed' | 'unchanged' {
  if (stored === undefined) return 'added';
  return stored.document === project.document ? 'unchanged' : 'changed';
}
