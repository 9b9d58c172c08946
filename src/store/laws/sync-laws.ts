import { type RawBuilder, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import { nameOf } from '../../../migrations/schema.js';
import { isListResource } from '../../resources/lists.js';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { createLaw, dayBefore, describeRow, keyColumns, type Law } from './law.js';

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
 * Creates a data law: the counters of each sync equal the number of versions that the sync wrote or ended. Counts the versions
 * once for all syncs, because no index finds the versions of one sync.
 */
function createCountLaw(law: string, { resource, counted, versions }: SyncCount): Law {
  return createLaw(law, () => {
    const count = sql`coalesce(v.versions, 0)`;
    const violation = sql<string>`'sync ' || ${r.id} || ': counted ' || (${counted}) || ', found ' || ${count}`;
    return sqlStatement`SELECT ${select({ violation })} FROM ${r()} LEFT JOIN (${versions}) AS v ON v.sync = ${r.id}
      WHERE ${r.resource} = ${resource} AND ${count} <> ${counted}`;
  });
}
