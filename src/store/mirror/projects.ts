import type { ChangeCounts, MirrorPort, ProjectAnswer, ProjectWriteResult } from '../../mirror/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import { PROJECTS } from '../../resources/projects.js';
import type { Table, Value } from '../dialect.js';
import { statement, type Database } from '../statement.js';
import { startCommit, listStartStatements, endCommit } from './syncs.js';
import { type VersionEnd, createVersionStatements } from './versions.js';

const IDS = { id: 'text' } as const;
const CHECKS = { id: 'text', state: 'text', at: 'instant', error: 'text' } as const;

const DUE = statement<{ organizationId: string; before: string; at: string }, { id: string }>(
  `SELECT r.project_id AS id FROM mirror.project_references AS r
   LEFT JOIN mirror.project_states AS s ON s.project_id = r.project_id
   WHERE r.organization_id = @organizationId AND (s.checked_at IS NULL OR s.checked_at < @before OR s.checked_at > @at)
   ORDER BY r.project_id`,
);
const CHECKED = statement<{ ids: Table }, { readonly id: string; readonly checked_at: string }>(
  ({ rows }) =>
    `SELECT project_id AS id, checked_at FROM mirror.project_states
     WHERE project_id IN (SELECT g.id FROM ${rows('@ids', 'g', IDS)})`,
);
const STANDING = statement<
  { ids: Table },
  { readonly id: string; readonly version: number; readonly document: string; readonly valid_from: string }
>(
  ({ rows }) =>
    `SELECT id, version, document, valid_from FROM mirror.projects WHERE id IN (SELECT g.id FROM ${rows('@ids', 'g', IDS)})`,
);
const CHECK = statement<{ checks: Table }>(
  ({ rows }) =>
    `INSERT INTO mirror.project_states (project_id, state, checked_at, error)
     SELECT g.id, g.state, g.at, g.error FROM ${rows('@checks', 'g', CHECKS)} WHERE true ORDER BY g.id
     ON CONFLICT (project_id) DO UPDATE SET state = excluded.state, checked_at = excluded.checked_at, error = excluded.error`,
);

/** All organizations share the rows: they are looked at under the lock that numbers them. */
export function createProjects({
  look,
  transact,
}: Database): Pick<MirrorPort, 'listDueProjects' | 'writeProjects'> {
  const versions = createVersionStatements(PROJECTS);
  return {
    listDueProjects: async (organizationId, checkedBefore, at) => {
      const before = formatInstant(checkedBefore);
      const [rows] = await look(DUE({ organizationId, before, at: formatInstant(at) }));
      return rows.map(({ id }) => id);
    },
    writeProjects: (sync, answers, at) =>
      transact(async batch => {
        const ids = { columns: IDS, rows: answers.map(({ id }) => [id]) };
        const [, seen, installations, states, , last, syncIds, checked, standing, ended] = await batch(
          ...listStartStatements(sync, answers.length),
          CHECKED({ ids }),
          STANDING({ ids }),
          versions.selectLastEnds(ids.rows),
        );
        const entered = startCommit(sync, answers.length, {
          seen,
          installations,
          states,
          ids: syncIds,
          last,
        });
        const { id: syncId, firstVersion: first, clock: dates } = entered;
        const checkedAt = new Map(checked.map(row => [row.id, row.checked_at]));
        const stands = new Map(standing.map(row => [row.id, row]));
        const endedAt = new Map(ended.map(row => [row['id'], row['valid_to']]));
        const rows: Value[][] = [];
        const closings: VersionEnd[] = [];
        const mends: { version: number; cells: readonly Value[] }[] = [];

        function writeOne(answer: ProjectAnswer, n: number): ProjectWriteResult {
          if (isOlder(checkedAt.get(answer.id) ?? '', answer.requestedAt, at)) return 'older';
          if ('error' in answer) return 'unavailable';
          const { id, cells, document, observedAt } = answer;
          const stored = stands.get(id);
          if (stored?.document === document) {
            mends.push({ version: stored.version, cells });
            return 'unchanged';
          }
          const number = first + n;
          const validFrom = dates.assignInstant(observedAt, stored?.valid_from ?? endedAt.get(id) ?? null);
          if (stored !== undefined) {
            closings.push({ version: stored.version, at: validFrom, changeNumber: number, isRemoved: false });
          }
          rows.push([number, id, ...cells, validFrom, syncId, document]);
          return stored === undefined ? 'added' : 'changed';
        }

        const written = answers.map(writeOne);
        const checks = answers.filter((_, n) => written[n] !== 'older').map(checkOf);
        const { statements: books, result: done } = endCommit(entered, countOf(written));
        await batch(
          CHECK({ checks: { columns: CHECKS, rows: checks } }),
          ...versions.moveToPast(closings, syncId),
          rows.length === 0 ? null : versions.insert(rows),
          mends.length === 0 ? null : versions.repair(mends),
          ...books,
        );
        return { ...done, written };
      }),
  };
}

/** What was looked at after now was looked at by a clock that has been put right. */
function isOlder(checkedAt: string, requestedAt: number, at: number): boolean {
  return checkedAt > formatInstant(requestedAt) && checkedAt <= formatInstant(at);
}

function checkOf(answer: ProjectAnswer): Value[] {
  const error = 'error' in answer ? answer.error : null;
  const state = error === null ? 'readable' : 'unavailable';
  return [answer.id, state, formatInstant(answer.requestedAt), error];
}

function countOf(written: readonly ProjectWriteResult[]): Omit<ChangeCounts, 'removed'> {
  const count = (word: ProjectWriteResult) => written.filter(each => each === word).length;
  return { added: count('added'), changed: count('changed'), unchanged: count('unchanged') };
}
