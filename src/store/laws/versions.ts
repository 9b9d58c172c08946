import { getIdColumn, listKeyColumns, type ResourceEntry } from '../../resources/entry.js';
import { ENTRIES, findResourceOfTable } from '../../resources/resources.js';
import type { Law } from './law.js';

export const VERSION_LAWS: readonly Law[] = [
  ...ENTRIES.flatMap(entry => lawsOf(entry, listKeyColumns(entry))),
  {
    law: 'no version number is used twice',
    sql: `SELECT 'version ' || version AS found FROM (
        SELECT version FROM (${everyVersion()}) AS v
        UNION ALL SELECT closed_version FROM past WHERE is_removed = 1
      ) AS numbers GROUP BY version HAVING count(*) > 1`,
  },
  {
    law: 'a past version is marked as removed if and only if no other version replaced it',
    sql: `SELECT p.resource || ', ' || p.key AS found FROM past AS p LEFT JOIN (${everyVersion()}) AS n
        ON n.version = p.closed_version AND n.resource = p.resource AND n.key = p.key
      WHERE (p.is_removed = 1) = (n.version IS NOT NULL)`,
  },
];

function lawsOf(entry: ResourceEntry, key: readonly string[]): Law[] {
  const { table } = entry;
  const [columns, named] = [key.join(', '), key.join(` || ', ' || `)];
  const history = `${table}_history`;
  /** Rows that have past versions, and perhaps some others of the same id: the index of past versions finds them without a sort. */
  const hasPast = `${getIdColumn(entry)} IN (SELECT key FROM past WHERE resource = '${findResourceOfTable(entry)}')`;
  const inOrder = (order: string) => `(
    SELECT ${columns}, version, valid_from, valid_to, closed_by, closed_version, lead(version) OVER o AS next, lead(valid_from) OVER o AS next_from, lead(sync_id) OVER o AS next_sync
    FROM ${history} WHERE ${hasPast}
    WINDOW o AS (PARTITION BY ${columns} ORDER BY ${order})) AS v`;
  const byDate = inOrder('valid_from, valid_to NULLS LAST');
  return [
    {
      law: `each version of ${table} ends after it began`,
      sql: `SELECT ${named} AS found FROM ${history} WHERE valid_to <= valid_from`,
    },
    {
      law: `no two versions of one row of ${table} overlap in time`,
      sql: `SELECT ${named} AS found FROM ${byDate} WHERE valid_to > next_from OR (valid_to IS NULL AND next_from IS NOT NULL)`,
    },
    {
      law: `each replaced version of ${table} ends when the next one begins`,
      sql: `SELECT ${named} AS found FROM ${byDate} WHERE closed_by = next_sync AND valid_to <> next_from`,
    },
    {
      law: `closed_version of each version of ${table} is at most the number of the next version`,
      sql: `SELECT ${named} AS found FROM ${inOrder('version')}
        WHERE closed_version <= version OR closed_version > next OR (closed_by = next_sync AND closed_version <> next)`,
    },
    {
      law: `no version number of ${table} is higher than version_counter`,
      sql: `SELECT 'version ' || version AS found FROM ${history}
        WHERE version > (SELECT last FROM version_counter) OR closed_version > (SELECT last FROM version_counter)`,
    },
    {
      law: `no version of ${table} is dated in the future`,
      sql: `SELECT ${named} AS found FROM ${history}
        WHERE valid_from > :soon OR valid_to > :soon`,
    },
  ];
}

/** Every version there is, and of which row. */
function everyVersion(): string {
  const now = ENTRIES.map(
    entry => `SELECT version, '${findResourceOfTable(entry)}', ${getIdColumn(entry)} FROM ${entry.table}`,
  );
  return ['SELECT version, resource, key FROM past', ...now].join(' UNION ALL ');
}
