import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { ofOne, sql } from '../sql.js';
import type { Asked } from './sync-progress.js';

export const SYNCED_COLUMNS = [
  'organization',
  'resource',
  'added',
  'changed',
  'removed',
  'unchanged',
  'state',
  'reason',
  'error',
] as const;

export type Synced = Awaited<ReturnType<typeof readSynced>>[number];

/** What became of each resource since the mark; an organization that is gone is left out unless it was named. */
export async function readSynced(reader: Reader, asked: Asked, resources: readonly string[]) {
  const rows = await readStates(reader, asked, resources);
  return rows.map(({ attempted_at: attemptedAt, error_code: code, ...row }) => ({
    ...row,
    /** As freshness has it, or `not_read` where it was not asked for this time and nothing else is wrong. */
    state: isReadWell(row) && (attemptedAt ?? asked.mark.at) < asked.mark.at ? 'not_read' : row.state,
    /** Whether the registry refused it although the installation permits it. */
    refused: row.reason === 'no_permission' && code === 'forbidden',
    /** Whether some of it was changed by hand, and is as the registry has it again: `error` says what. */
    mended: code === 'mended' && (attemptedAt ?? '') >= asked.mark.at,
  }));
}

/** Nothing is wrong: it is only to be read again. */
export const BEFORE_ITS_TURN: readonly (string | null)[] = [
  'unread_webhook',
  'worker_gone',
  'overdue',
  'clock_changed',
];

type Stands = Pick<Tables['freshness'], 'state' | 'reason' | 'failing_since'>;

/** Whatever came since. */
function isReadWell({ state, reason, failing_since: failingSince }: Stands): boolean {
  return failingSince === null && (state === 'fresh' || BEFORE_ITS_TURN.includes(reason));
}

interface Read extends Stands, Pick<Tables['freshness'], 'resource' | 'error' | 'attempted_at'> {
  readonly organization_id: string;
  readonly organization: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly error_code: string | null;
}

/** By the names of the organizations. */
async function readStates(
  { all }: Reader,
  { mark, organizationId: id }: Asked,
  resources: readonly string[],
) {
  const wanted = id === null ? sql`f.reason IS DISTINCT FROM 'uninstalled'` : ofOne(id, 'f');
  return await all(sql<Read>`SELECT r.organization_id, coalesce(o.full_name, r.organization_id) AS organization,
      f.resource, coalesce(s.added, 0) AS added, coalesce(s.changed, 0) AS changed,
      coalesce(s.removed, 0) AS removed, coalesce(s.unchanged, 0) AS unchanged,
      f.state, f.reason, f.failing_since, f.error, f.attempted_at, r.error_code
    FROM mirror.freshness AS f
      JOIN mirror.resource_states AS r ON r.organization_id = f.organization_id AND r.resource = f.resource
      LEFT JOIN mirror.organizations AS o ON o.id = f.organization_id
      LEFT JOIN (SELECT organization_id, resource, sum(rows_added) AS added, sum(rows_changed) AS changed,
          sum(rows_removed) AS removed, max(rows_unchanged) AS unchanged
        FROM mirror.syncs WHERE id > ${mark.sync} GROUP BY organization_id, resource) AS s
        ON s.organization_id = f.organization_id AND s.resource = f.resource
    WHERE f.resource IN ${resources} AND ${wanted}
    ORDER BY organization, r.organization_id, f.resource`);
}
