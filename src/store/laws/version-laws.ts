import { type RawBuilder, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/current.js';
import { nameOf } from '../../../migrations/schema.js';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { createLaw, describeRow, keyColumns, type Law, type VersionedResource } from './law.js';

const past = tableRef('mirror.past');
const counter = tableRef('mirror.version_counter');

/** Selects the number, the resource and the key of every version, past and current. */
const EVERY_VERSION = sql`${sql.join(
  [
    sql`SELECT ${past.version}, ${past.resource}, ${past.key} FROM ${past()}`,
    ...RESOURCES.map(resource => {
      const current = tableRef(`mirror.${resource.table}`);
      return sql`SELECT ${current.version}, ${sql.lit(resource.resource)}, ${sql.id(nameOf(resource))} FROM ${current()}`;
    }),
  ],
  sql` UNION ALL `,
)}`;

export const VERSION_LAWS: readonly Law[] = [
  ...RESOURCES.flatMap(createVersionLaws),
  createLaw('no version number is used twice', () => {
    const violation = sql<string>`'version ' || ${past.version}`;
    return sqlStatement`SELECT ${select({ violation })} FROM (
        SELECT ${past.version} FROM (${EVERY_VERSION}) AS v
        UNION ALL SELECT ${past.closed_version} FROM ${past()} WHERE ${past.is_removed} = 1
      ) AS numbers GROUP BY ${past.version} HAVING count(*) > 1`;
  }),
  createLaw('a past version is marked as removed if and only if no other version replaced it', () => {
    const p = tableRef('mirror.past', 'p');
    const next = tableRef('mirror.past', 'n');
    return sqlStatement`SELECT ${select({ violation: describeRow(p.resource, p.key) })} FROM ${p()} LEFT JOIN (${EVERY_VERSION}) AS n
        ON ${next.version} = ${p.closed_version} AND ${next.resource} = ${p.resource} AND ${next.key} = ${p.key}
      WHERE (${p.is_removed} = 1) = (${next.version} IS NOT NULL)`;
  }),
];

/** Creates the laws about the versions of one resource. */
function createVersionLaws(resource: VersionedResource): Law[] {
  const { table } = resource;
  const history = tableRef(`mirror.${table}_history`);
  const key = keyColumns(resource);
  const violation = select({ violation: describeRow(...key) });
  /** Selects rows with past versions, and perhaps others with the same id. The index of past versions finds them without a sort. */
  const hasPast = sql`${sql.id(nameOf(resource))} IN (SELECT ${past.key} FROM ${past()} WHERE ${past.resource} = ${resource.resource})`;
  const withNext = (order: RawBuilder<unknown>) => sql`(
    SELECT ${sql.join(key)}, ${history.version}, ${history.valid_from}, ${history.valid_to}, ${history.closed_by}, ${history.closed_version},
      lead(${history.version}) OVER o AS next_version, lead(${history.valid_from}) OVER o AS next_from, lead(${history.sync_id}) OVER o AS next_sync
    FROM ${history()} WHERE ${hasPast}
    WINDOW o AS (PARTITION BY ${sql.join(key)} ORDER BY ${order})) AS v`;
  const byDate = withNext(sql`${history.valid_from}, ${history.valid_to} NULLS LAST`);
  const highest = sql`(SELECT ${counter.last} FROM ${counter()})`;
  return [
    createLaw(
      `each version of ${table} ends after it began`,
      () =>
        sqlStatement`SELECT ${violation} FROM ${history()} WHERE ${history.valid_to} <= ${history.valid_from}`,
    ),
    createLaw(
      `no two versions of one row of ${table} overlap in time`,
      () =>
        sqlStatement`SELECT ${violation} FROM ${byDate}
          WHERE ${history.valid_to} > next_from OR (${history.valid_to} IS NULL AND next_from IS NOT NULL)`,
    ),
    createLaw(
      `each replaced version of ${table} ends when the next one begins`,
      () =>
        sqlStatement`SELECT ${violation} FROM ${byDate} WHERE ${history.closed_by} = next_sync AND ${history.valid_to} <> next_from`,
    ),
    createLaw(
      `closed_version of each version of ${table} is at most the number of the next version`,
      () =>
        sqlStatement`SELECT ${violation} FROM ${withNext(history.version)}
          WHERE ${history.closed_version} <= ${history.version} OR ${history.closed_version} > next_version
            OR (${history.closed_by} = next_sync AND ${history.closed_version} <> next_version)`,
    ),
    createLaw(
      `no version number of ${table} is higher than version_counter`,
      () =>
        sqlStatement`SELECT ${select({ violation: sql<string>`'version ' || ${history.version}` })} FROM ${history()}
          WHERE ${history.version} > ${highest} OR ${history.closed_version} > ${highest}`,
    ),
    createLaw(
      `no version of ${table} is dated in the future`,
      (_, { soon }) =>
        sqlStatement`SELECT ${violation} FROM ${history()} WHERE ${history.valid_from} > ${soon} OR ${history.valid_to} > ${soon}`,
    ),
  ];
}
