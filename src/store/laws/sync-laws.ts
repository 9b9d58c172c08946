import { type RawBuilder, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/current.js';
import { nameOf } from '../../../migrations/schema.js';
import { isListResource } from '../../resources/lists.js';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { createLaw, dayBefore, describeRow, keyColumns, type Law, type VersionedResource } from './law.js';

/** Resources that the syncs of an organization write. */
const WRITTEN = RESOURCES.filter(({ resource }) => isListResource(resource) || resource === 'certificates');
/** Resources whose versions can be compared with counters. Members are left out: `forget` removes versions that syncs counted. */
const COUNTED = WRITTEN.filter(({ resource }) => resource !== 'members');

const sync = tableRef('mirror.syncs');
const r = tableRef('mirror.syncs', 'r');
const past = tableRef('mirror.past');

export const SYNC_LAWS: readonly Law[] = [
  ...RESOURCES.map(resource => {
    const { table } = resource;
    const history = tableRef(`mirror.${table}_history`);
    const key = keyColumns(resource);
    return createLaw(`the syncs that wrote or closed versions of ${table} exist`, ({ fn }) => {
      // Projects have no owner: the syncs that wrote them are removed with the organization for which they were read.
      const mustExist = table === 'projects' ? sql`AND sync > ${fn.newestSync}` : sql``;
      return sqlStatement`SELECT ${select({ violation: describeRow(...key) })} FROM (
          SELECT ${sql.join(key)}, ${history.sync_id} AS sync FROM ${history()}
          UNION ALL SELECT ${sql.join(key)}, ${history.closed_by} FROM ${history()}) AS v
        WHERE sync IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${r()} WHERE ${r.id} = sync) ${mustExist}`;
    });
  }),
  ...WRITTEN.map(each => {
    const { resource, table, owner } = each;
    const v = tableRef(`mirror.${table}_history`, 'v');
    const p = tableRef('mirror.past', 'p');
    const organizationId = sql.id('v', owner ?? 'organization_id');
    return createLaw(`each version of ${table} matches the list and time of its sync`, ({ fn }) => {
      const begins = dayBefore(fn, v.valid_from);
      return sqlStatement`SELECT ${select({ violation: describeRow(...keyColumns(each, 'v')) })}
        FROM ${v()} JOIN ${r()} ON ${r.id} = ${v.sync_id}
        WHERE ${r.resource} <> ${resource} OR ${r.organization_id} IS DISTINCT FROM ${organizationId}
          OR ${v.valid_from} < ${dayBefore(fn, r.started_at)}
          OR (${r.finished_at} < ${begins} AND NOT EXISTS (
            SELECT 1 FROM ${p()} WHERE ${p.resource} = ${resource} AND ${p.organization_id} = ${organizationId}
              AND ${p.key} = ${sql.id('v', nameOf(each))} AND ${p.valid_to} > ${begins}))`;
    });
  }),
  ...COUNTED.map(({ resource, table }) => {
    const history = tableRef(`mirror.${table}_history`);
    return createCountLaw(`each sync wrote as many versions of ${table} as it counted`, {
      resource,
      counted: sql`${r.rows_added} + ${r.rows_changed}`,
      versions: sql`SELECT ${history.sync_id} AS sync, count(*) AS versions FROM ${history()} GROUP BY ${history.sync_id}`,
    });
  }),
  ...COUNTED.filter(({ resource }) => resource !== 'certificates').map(({ resource, table }) =>
    createCountLaw(`each sync closed as many versions of ${table} as it counted`, {
      resource,
      counted: sql`${r.rows_changed} + ${r.rows_removed}`,
      versions: sql`SELECT ${past.closed_by} AS sync, count(*) AS versions FROM ${past()}
        WHERE ${past.resource} = ${resource} GROUP BY ${past.closed_by}`,
    }),
  ),
  createLaw('no sync is dated in the future or ends before it began', ({ db, fn }, { soon }) =>
    db
      .selectFrom('mirror.syncs')
      .select(sql<string>`'sync ' || ${sync.id}`.as('violation'))
      .where(eb =>
        eb.or([
          eb('started_at', '>', soon),
          eb('finished_at', '>', soon),
          eb('finished_at', '<', dayBefore(fn, sync.started_at)),
        ]),
      ),
  ),
];

interface SyncCount {
  readonly resource: string;
  /** The number of versions according to the counters of the sync `r`. */
  readonly counted: RawBuilder<unknown>;
  /** Selects each `sync` and the number of its `versions`, counted from the rows. */
  readonly versions: RawBuilder<unknown>;
}

/**
 * Creates a data law (a rule that all rows must fulfil) about the syncs of a resource: the number of row versions that a sync counted
 * equals the number of stored row versions that name the sync. `rule` is the law as a sentence.
 */
function createCountLaw(rule: string, { resource, counted, versions }: SyncCount): Law {
  return createLaw(rule, () => {
    // The versions are counted once for all syncs, because no index finds the versions of one sync.
    const count = sql`coalesce(v.versions, 0)`;
    const violation = sql<string>`'sync ' || ${r.id} || ': counted ' || (${counted}) || ', found ' || ${count}`;
    return sqlStatement`SELECT ${select({ violation })} FROM ${r()} LEFT JOIN (${versions}) AS v ON v.sync = ${r.id}
      WHERE ${r.resource} = ${resource} AND ${count} <> ${counted}`;
  });
}

type ProjectResource = Extract<VersionedResource, { readonly columns: { readonly project_id: unknown } }>;
const hasProject = (resource: VersionedResource): resource is ProjectResource =>
  'project_id' in resource.columns;

const state = tableRef('mirror.resource_states');
const s = tableRef('mirror.resource_states', 's');
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
