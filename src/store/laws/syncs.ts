import { getIdColumn } from '../../resources/entry.js';
import { findEntry } from '../../resources/resources.js';
import type { Dialect } from '../dialect.js';
import { DAY_MS, KEYS, type Law, LISTED, scopeOf } from './law.js';

const WRITTEN: Readonly<Record<string, string>> = { ...LISTED, certificates: 'certificates' };

/** A person who is forgotten leaves no row for a sync to have written. */
const EXACT = Object.entries(WRITTEN).filter(([resource]) => resource !== 'members');

/** Projects belong to nobody: the syncs that wrote them are removed with the organization for which they were read. */
export function syncLaws({ later, newestSync }: Dialect): readonly Law[] {
  const dayBefore = (instant: string) => later(instant, String(-DAY_MS));
  return [
    ...Object.entries(KEYS).map(([table, key]) => ({
      law: `the syncs that wrote or closed versions of ${table} exist`,
      sql: `SELECT ${key.join(` || ', ' || `)} AS found FROM (
        SELECT ${key.join(', ')}, sync_id AS sync FROM ${table}_history
        UNION ALL SELECT ${key.join(', ')}, closed_by FROM ${table}_history) AS v
      WHERE v.sync IS NOT NULL AND NOT EXISTS (SELECT 1 FROM syncs WHERE syncs.id = v.sync)${table === 'projects' ? ` AND sync > ${newestSync}` : ''}`,
    })),
    ...Object.entries(WRITTEN).map(([resource, table]) => ({
      law: `each version of ${table} matches the list and time of its sync`,
      sql: `SELECT ${nameOf(table)} AS found FROM ${table}_history AS v JOIN syncs AS r ON r.id = v.sync_id
      WHERE r.resource <> '${resource}' OR r.organization_id IS DISTINCT FROM v.${scopeOf(table)}
        OR v.valid_from < ${dayBefore('r.started_at')}
        OR (r.finished_at < ${dayBefore('v.valid_from')} AND NOT EXISTS (
          SELECT 1 FROM past AS p WHERE p.resource = '${resource}' AND p.organization_id = v.${scopeOf(table)}
            AND p.key = v.${idOf(table)} AND p.valid_to > ${dayBefore('v.valid_from')}))`,
    })),
    ...EXACT.map(([resource, table]) => ({
      law: `each sync wrote as many versions of ${table} as it counted`,
      sql: countBySync({
        resource,
        counted: 'r.rows_added + r.rows_changed',
        versions: `SELECT sync_id AS sync, count(*) AS versions FROM ${table}_history GROUP BY sync_id`,
      }),
    })),
    ...EXACT.filter(([resource]) => resource !== 'certificates').map(([resource, table]) => ({
      law: `each sync closed as many versions of ${table} as it counted`,
      sql: countBySync({
        resource,
        counted: 'r.rows_changed + r.rows_removed',
        versions: `SELECT closed_by AS sync, count(*) AS versions FROM past WHERE resource = '${resource}' GROUP BY closed_by`,
      }),
    })),
    {
      law: 'no sync is dated in the future or ends before it began',
      sql: `SELECT 'sync ' || id AS found FROM syncs
      WHERE started_at > :soon OR finished_at > :soon
        OR finished_at < ${dayBefore('started_at')}`,
    },
  ];
}

interface SyncCount {
  readonly resource: string;
  /** The number of versions by the counters of a sync `r`, as SQL. */
  readonly counted: string;
  /** Selects `sync` and its number of `versions` from the rows. */
  readonly versions: string;
}

/** Compares the counters of each sync with the rows. The rows are counted once for all syncs: no index finds those of one sync. */
function countBySync({ resource, counted, versions }: SyncCount): string {
  return `SELECT 'sync ' || r.id || ': counted ' || (${counted}) || ', found ' || coalesce(v.versions, 0) AS found
    FROM syncs AS r LEFT JOIN (${versions}) AS v ON v.sync = r.id
    WHERE r.resource = '${resource}' AND coalesce(v.versions, 0) <> ${counted}`;
}

/** The column that `past` has as the key of a row. */
function idOf(table: string): string {
  const entry = findEntry(table);
  if (entry === undefined) throw new Error(`expected a table with versions, got ${table}`);
  return getIdColumn(entry);
}

function nameOf(table: string): string {
  return (KEYS[table] ?? []).map(column => `v.${column}`).join(` || ', ' || `);
}
