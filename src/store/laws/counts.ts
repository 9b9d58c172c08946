import { listEntriesWithColumn } from '../../resources/resources.js';
import { type Law, LISTED, scopeOf } from './law.js';

const OWN_SYNCS = 'syncs AS r WHERE r.organization_id = s.organization_id AND r.resource = s.resource';

export const COUNT_LAWS: readonly Law[] = [
  ...Object.entries(LISTED).map(([resource, table]) => ({
    law: `the counter of ${resource} fits its rows`,
    sql: `SELECT s.organization_id || ': counted ' || s.rows || ', found ' || count(t.version) AS found
    FROM resource_states AS s LEFT JOIN ${table} AS t ON t.${scopeOf(table)} = s.organization_id
    WHERE s.resource = '${resource}' AND s.open_sync IS NULL
    GROUP BY s.organization_id, s.rows HAVING s.rows <> count(t.version)`,
  })),
  {
    law: 'no resource was read in the future',
    sql: `SELECT organization_id || ', ' || resource AS found FROM resource_states
    WHERE as_of > :soon OR first_complete_at > :soon OR attempted_at > :soon`,
  },
  {
    law: 'the last complete and the latest sync of each list are there',
    sql: `SELECT s.organization_id || ', ' || s.resource AS found FROM resource_states AS s
    WHERE (as_of IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${OWN_SYNCS} AND r.started_at = s.as_of AND r.state = 'complete'))
      OR (attempted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${OWN_SYNCS} AND r.started_at = s.attempted_at))`,
  },
  {
    law: 'a project that a row names is remembered',
    sql: listEntriesWithColumn('project_id')
      .map(
        ({ table }) => `SELECT organization_id || ', ' || project_id AS found FROM ${table} AS t
        WHERE project_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM project_references AS p
          WHERE p.organization_id = t.organization_id AND p.project_id = t.project_id)`,
      )
      .join(' UNION '),
  },
];
