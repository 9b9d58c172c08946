import { listEntriesWithColumn } from '../../resources/resources.js';
import type { Dialect } from '../dialect.js';
import { DAY_MS, type Law, LISTED, scopeOf } from './law.js';

export function countLaws({ later }: Dialect): readonly Law[] {
  const dayBefore = (instant: string) => later(instant, String(-DAY_MS));
  return [
    ...Object.entries(LISTED).map(([resource, table]) => ({
      law: `the row counter of ${resource} matches its rows`,
      sql: `SELECT s.organization_id || ': counted ' || s.rows || ', found ' || count(t.version) AS found
    FROM resource_states AS s LEFT JOIN ${table} AS t ON t.${scopeOf(table)} = s.organization_id
    WHERE s.resource = '${resource}' AND s.open_sync IS NULL
    GROUP BY s.organization_id, s.rows HAVING s.rows <> count(t.version)`,
    })),
    {
      law: 'no read of a resource is dated in the future',
      sql: `SELECT organization_id || ', ' || resource AS found FROM resource_states
    WHERE as_of > :soon OR first_complete_at > :soon OR attempted_at > :soon`,
    },
    {
      law: 'the latest sync and the last complete sync of each list exist',
      /** One pass over the syncs: a search for each list would scan all syncs of that list. */
      sql: `SELECT organization_id || ', ' || resource AS found FROM (
        SELECT organization_id, resource, as_of AS started_at, 'complete' AS state FROM resource_states
        WHERE as_of IS NOT NULL AND unchanged_reads = 0
        UNION SELECT organization_id, resource, attempted_at, 'any' FROM resource_states
        WHERE attempted_at IS NOT NULL AND unchanged_reads = 0
        EXCEPT SELECT organization_id, resource, started_at, 'complete' FROM syncs WHERE state = 'complete'
        EXCEPT SELECT organization_id, resource, last_started_at, 'complete' FROM unchanged_spans
        EXCEPT SELECT organization_id, resource, started_at, 'any' FROM syncs) AS missing`,
    },
    {
      law: 'spans of unchanged reads of one list do not overlap, and each lies within one day',
      sql: `SELECT 'span ' || id AS found FROM (
        SELECT s.*, lead(first_started_at) OVER (PARTITION BY organization_id, resource ORDER BY id) AS next_started_at
        FROM unchanged_spans AS s) AS s
      WHERE first_finished_at < first_started_at OR last_started_at < first_started_at OR last_finished_at < last_started_at
        OR (reads = 1 AND last_started_at <> first_started_at) OR next_started_at < ${dayBefore('last_started_at')}`,
    },
    {
      law: 'each project that a row names is in project_references',
      sql: listEntriesWithColumn('project_id')
        .map(
          ({ table }) => `SELECT organization_id || ', ' || project_id AS found FROM ${table} AS t
        WHERE project_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM project_references AS p
          WHERE p.organization_id = t.organization_id AND p.project_id = t.project_id)`,
        )
        .join(' UNION '),
    },
  ];
}
