import { sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import { isListResource } from '../../resources/lists.js';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { createLaw, dayBefore, describeRow, type Law, type VersionedResource } from './law.js';

type ProjectResource = Extract<VersionedResource, { readonly columns: { readonly project_id: unknown } }>;
const hasProject = (resource: VersionedResource): resource is ProjectResource =>
  'project_id' in resource.columns;

const state = tableRef('mirror.resource_states');
const s = tableRef('mirror.resource_states', 's');
const sync = tableRef('mirror.syncs');
const span = tableRef('mirror.unchanged_spans');

export const COUNT_LAWS: readonly Law[] = [
  ...RESOURCES.filter(({ resource }) => isListResource(resource)).map(({ resource, table, owner }) => {
    const t = tableRef(`mirror.${table}`, 't');
    const organizationId = sql.id('t', owner ?? 'organization_id');
    const rows = sql`count(${t.version})`;
    const violation = sql<string>`${s.organization_id} || ': counted ' || ${s.rows} || ', found ' || ${rows}`;
    return createLaw(
      `the row counter of ${resource} matches its rows`,
      () =>
        sqlStatement`SELECT ${select({ violation })} FROM ${s()} LEFT JOIN ${t()} ON ${organizationId} = ${s.organization_id}
          WHERE ${s.resource} = ${resource} AND ${s.open_sync} IS NULL
          GROUP BY ${s.organization_id}, ${s.rows} HAVING ${s.rows} <> ${rows}`,
    );
  }),
  createLaw('no read of a resource is dated in the future', ({ db }, { soon }) =>
    db
      .selectFrom('mirror.resource_states')
      .select(describeRow(state.organization_id, state.resource).as('violation'))
      .where(eb =>
        eb.or([eb('as_of', '>', soon), eb('first_complete_at', '>', soon), eb('attempted_at', '>', soon)]),
      ),
  ),
  createLaw('the latest sync and the last complete sync of each list exist', () => {
    const violation = describeRow(state.organization_id, state.resource);
    const list = sql`${state.organization_id}, ${state.resource}`;
    // One pass over the syncs: a search for each list would scan all syncs of that list.
    return sqlStatement`SELECT ${select({ violation })} FROM (
      SELECT ${list}, ${state.as_of} AS started_at, 'complete' AS state FROM ${state()}
      WHERE ${state.as_of} IS NOT NULL AND ${state.unchanged_reads} = 0
      UNION SELECT ${list}, ${state.attempted_at}, 'any' FROM ${state()}
      WHERE ${state.attempted_at} IS NOT NULL AND ${state.unchanged_reads} = 0
      EXCEPT SELECT ${sync.organization_id}, ${sync.resource}, ${sync.started_at}, 'complete' FROM ${sync()} WHERE ${sync.state} = 'complete'
      EXCEPT SELECT ${span.organization_id}, ${span.resource}, ${span.last_started_at}, 'complete' FROM ${span()}
      EXCEPT SELECT ${span.organization_id}, ${span.resource}, ${span.last_started_at}, 'any' FROM ${span()}
      EXCEPT SELECT ${sync.organization_id}, ${sync.resource}, ${sync.started_at}, 'any' FROM ${sync()}) AS missing`;
  }),
  createLaw(
    'spans of unchanged reads of one list do not overlap, and each lies within one day',
    ({ fn }) => sqlStatement`SELECT ${select({ violation: sql<string>`'span ' || ${span.id}` })} FROM (
        SELECT s.*, lead(${span.first_started_at}) OVER (PARTITION BY ${span.organization_id}, ${span.resource} ORDER BY ${span.id}) AS next_started_at
        FROM ${tableRef('mirror.unchanged_spans', 's')()}) AS s
      WHERE ${span.first_finished_at} < ${span.first_started_at} OR ${span.last_started_at} < ${span.first_started_at}
        OR ${span.last_finished_at} < ${span.last_started_at} OR (${span.reads} = 1 AND ${span.last_started_at} <> ${span.first_started_at})
        OR next_started_at < ${dayBefore(fn, span.last_started_at)}`,
  ),
  createLaw('each project that a row names is in project_references', () => {
    const violation = sql.id('violation');
    const missing = RESOURCES.filter(hasProject).map(({ table }) => {
      const t = tableRef(`mirror.${table}`, 't');
      const p = tableRef('mirror.project_references', 'p');
      return sql`SELECT ${describeRow(t.organization_id, t.project_id)} AS violation FROM ${t()}
        WHERE ${t.project_id} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${p()}
          WHERE ${p.organization_id} = ${t.organization_id} AND ${p.project_id} = ${t.project_id})`;
    });
    return sqlStatement`SELECT ${select({ violation: sql<string>`${violation}` })} FROM (${sql.join(missing, sql` UNION `)}) AS missing`;
  }),
];
