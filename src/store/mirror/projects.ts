import { sql } from 'kysely';
import type { ChangeCounts } from '../../mirror/port/sync.js';
import type { MirrorPort, ProjectAnswer, ProjectWriteResult } from '../../mirror/port/mirror-port.js';
import { formatInstant } from '../../resources/sql-values.js';
import { PROJECTS } from '../../resources/projects.js';
import type { Value } from '../contract/tables.js';
import type { Table } from '../dialect.js';
import { insertFrom, jsonRelation, tableRef, sqlStatement } from '../sql/columns.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { Database } from '../statement.js';
import { beginCommit, buildCommitEnd } from './syncs.js';
import { type VersionEnd, getVersionStatements } from './row-versions.js';

type DueRange = { readonly organizationId: string; readonly checkedBefore: string; readonly now: string };
/** A check in the future was made while the clock was ahead, so its project is due. */
const LIST_DUE = prepared(({ db }, { organizationId, checkedBefore, now }: Params<DueRange>) =>
  db
    .selectFrom('mirror.project_references as reference')
    .leftJoin('mirror.project_states as state', 'state.project_id', 'reference.project_id')
    .select('reference.project_id as id')
    .where('reference.organization_id', '=', organizationId)
    .where(eb =>
      eb.or([
        eb('state.checked_at', 'is', null),
        eb('state.checked_at', '<', checkedBefore),
        eb('state.checked_at', '>', now),
      ]),
    )
    .orderBy('reference.project_id'),
);

const projectIds = jsonRelation('given', { id: 'text' });
type ProjectIds = { readonly ids: Table };
const givenIds = (fn: SqlFunctions, { ids }: Params<ProjectIds>) =>
  sql<string>`(SELECT ${projectIds.columns.id} FROM ${projectIds.from(fn, ids)})`;
const LIST_CHECKS = prepared(({ db, fn }, params: Params<ProjectIds>) =>
  db
    .selectFrom('mirror.project_states')
    .select(['project_id as id', 'checked_at'])
    .where('project_id', 'in', givenIds(fn, params)),
);
const LIST_CURRENT = prepared(({ db, fn }, params: Params<ProjectIds>) =>
  db
    .selectFrom('mirror.projects')
    .select(['id', 'version', 'document', 'valid_from'])
    .where('id', 'in', givenIds(fn, params)),
);

const own = tableRef('mirror.project_states');
const excluded = tableRef('mirror.project_states', 'excluded');
const projectCheck = jsonRelation('project_check', {
  id: 'text',
  state: 'text',
  at: 'instant',
  error: 'text',
});
const UPSERT_CHECKS = prepared(({ fn }, { checks }: Params<{ readonly checks: Table }>) => {
  const { id, state, at, error } = projectCheck.columns;
  const insert = insertFrom(
    'mirror.project_states',
    { project_id: id, state, checked_at: at, error },
    sql`FROM ${projectCheck.from(fn, checks)} WHERE true ORDER BY ${id}`,
  );
  return sqlStatement`${insert} ON CONFLICT (${own.project_id}) DO UPDATE SET
    ${own.state} = ${excluded.state}, ${own.checked_at} = ${excluded.checked_at}, ${own.error} = ${excluded.error}`;
});

/**
 * Creates the methods of `MirrorPort` that store projects. Organizations share the rows of projects, so the syncs of two organizations may
 * write the same project at the same time. `writeProjects` therefore locks the version counter before it reads stored projects.
 */
export function createProjects({
  read,
  transact,
}: Database): Pick<MirrorPort, 'listDueProjects' | 'writeProjects'> {
  const versions = getVersionStatements(PROJECTS);
  return {
    listDueProjects: async (organizationId, checkedBefore, at) => {
      const due = { organizationId, checkedBefore: formatInstant(checkedBefore), now: formatInstant(at) };
      const [rows] = await read(LIST_DUE(due));
      return rows.map(({ id }) => id);
    },
    writeProjects: (sync, answers, at) =>
      transact(async batch => {
        const ids = projectIds.toTable(answers.map(({ id }) => ({ id })));
        const reads = {
          checks: LIST_CHECKS({ ids }),
          current: LIST_CURRENT({ ids }),
          lastEnds: versions.selectLastEnds(ids.rows),
        };
        const { commit, rows: found } = await beginCommit(
          batch,
          { sync, versionCount: answers.length },
          reads,
        );
        const { id: syncId, firstVersion, clock } = commit;
        const checkedAt = new Map(found.checks.map(row => [row.id, row.checked_at]));
        const currentById = new Map(found.current.map(row => [row.id, row]));
        const endedAt = new Map(found.lastEnds.map(row => [row['id'], row['valid_to']]));
        const rows: Value[][] = [];
        const ends: VersionEnd[] = [];
        const repairs: { version: number; cells: readonly Value[] }[] = [];

        /**
         * Plans how to store one answer. A new or changed document becomes a new row version, which ends the current one. If the document
         * is the same, only corrects the columns of the current version. Returns `added`, `changed` or `unchanged`; `unavailable` if the
         * registry answered with an error; `older` if a newer answer is already stored.
         */
        function planProjectWrite(answer: ProjectAnswer, index: number): ProjectWriteResult {
          if (isOlder(answer.requestedAt, checkedAt.get(answer.id) ?? '', at)) return 'older';
          if ('error' in answer) return 'unavailable';
          const { id, cells, document, observedAt } = answer;
          const stored = currentById.get(id);
          if (stored?.document === document) {
            repairs.push({ version: stored.version, cells });
            return 'unchanged';
          }
          const number = firstVersion + index;
          const validFrom = clock.assignInstant(observedAt, stored?.valid_from ?? endedAt.get(id) ?? null);
          if (stored !== undefined) {
            ends.push({ version: stored.version, at: validFrom, changeNumber: number, isRemoved: false });
          }
          rows.push([number, id, ...cells, validFrom, syncId, document]);
          return stored === undefined ? 'added' : 'changed';
        }

        const written = answers.map(planProjectWrite);
        const checks = answers.filter((_, index) => written[index] !== 'older').map(toCheckRow);
        const { statements, result } = buildCommitEnd(commit, countResults(written));
        await batch(
          UPSERT_CHECKS({ checks: projectCheck.toTable(checks) }),
          ...versions.moveToPast(ends, syncId),
          rows.length === 0 ? null : versions.insert(rows),
          repairs.length === 0 ? null : versions.repair(repairs),
          ...statements,
        );
        return { ...result, written };
      }),
  };
}

/**
 * Returns whether an answer is older than the stored check of the project. Ignores a stored check that is later than `now`, because the
 * clock was ahead when it was stored.
 */
function isOlder(requestedAt: number, checkedAt: string, now: number): boolean {
  return checkedAt > formatInstant(requestedAt) && checkedAt <= formatInstant(now);
}

/** Returns the row of `project_states` that records when a project was requested and whether it was readable. */
function toCheckRow(answer: ProjectAnswer) {
  const error = 'error' in answer ? answer.error : null;
  const state = error === null ? 'readable' : 'unavailable';
  return { id: answer.id, state, at: formatInstant(answer.requestedAt), error };
}

/** Counts the projects that were added, changed and unchanged. */
function countResults(results: readonly ProjectWriteResult[]): Omit<ChangeCounts, 'removed'> {
  const countResult = (result: ProjectWriteResult) => results.filter(each => each === result).length;
  return {
    added: countResult('added'),
    changed: countResult('changed'),
    unchanged: countResult('unchanged'),
  };
}
