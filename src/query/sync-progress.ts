import type { Reader } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { splitWords } from '../resources/entry.js';
import { columns, first, largest, ofOne, plain, sql } from './sql.js';

type Mark = Awaited<ReturnType<typeof readMark>>;

/** Where the tables stood when the work was asked for. */
export async function readMark(reader: Reader, now: number) {
  const job = await largest<number>(reader, 'id', plain('inbox.jobs'));
  const sync = await largest<number>(reader, 'id', plain('mirror.syncs'));
  return { job: job ?? 0, sync: sync ?? 0, at: new Date(now).toISOString() };
}

export interface FollowedRequest {
  readonly mark: Mark;
  readonly jobs: readonly number[];
  /** Null for all organizations, and what is found on the way. */
  readonly organizationId: string | null;
}

/** A job whose like has started a moment ago begins so much later. */
const PACE_MS = 1000;

const FOLLOWED = columns('inbox.jobs', [
  ...(['id', 'kind', 'state', 'organization_id', 'installation_id', 'attempts'] as const),
  ...(['started_at', 'run_at', 'error_or_pause_code', 'last_error'] as const),
]);

export type FollowedJob = Awaited<ReturnType<typeof readFollowed>>[number];

/**
 * The jobs that were asked for, those that took over from them, looks at installations that were found on the way,
 * and the certificates that are being fetched for them.
 */
export async function readFollowed(
  { all }: Reader,
  { mark, jobs, organizationId }: FollowedRequest,
  now: number,
) {
  const [at, soon] = [new Date(now).toISOString(), new Date(now + PACE_MS).toISOString()];
  const isFetched = sql`kind = 'certificates' AND ${ofOne(organizationId)}`;
  const isFound = sql`id > ${mark.job} AND kind = 'installation' AND trigger = 'schedule' AND run_at <= ${at}`;
  return await all(sql`WITH RECURSIVE ours(id) AS (SELECT id FROM inbox.jobs WHERE id IN ${jobs}
      UNION SELECT j.merged_into FROM ours JOIN inbox.jobs AS j ON j.id = ours.id WHERE j.merged_into IS NOT NULL)
    SELECT ${FOLLOWED} FROM inbox.jobs WHERE id IN (SELECT id FROM ours) AND merged_into IS NULL
    UNION SELECT ${FOLLOWED} FROM inbox.jobs WHERE ${isFetched} AND state = 'running'
    UNION SELECT ${FOLLOWED} FROM inbox.jobs WHERE ${isFetched} AND state = 'waiting' AND run_at <= ${soon}
    UNION SELECT ${FOLLOWED} FROM inbox.jobs WHERE ${organizationId === null ? isFound : plain('1 = 0')}
    ORDER BY id`);
}

/** Whether some worker holds a lease on anything. */
export async function isAnybodyAtWork(reader: Reader, now: number): Promise<boolean> {
  const held = sql`SELECT id FROM inbox.jobs WHERE state = 'running' AND claimed_until > ${new Date(now).toISOString()} LIMIT 1`;
  return (await first(reader, held)) !== null;
}

export const SYNCED_COLUMNS = splitWords('organization resource added changed removed unchanged state error');

export type SyncedResourceResult = Awaited<ReturnType<typeof readSynced>>[number];

/** What became of each resource since the mark; an organization that is gone is left out unless it was named. */
export async function readSynced(reader: Reader, asked: FollowedRequest, resources: readonly string[]) {
  const rows = await readStates(reader, asked, resources);
  return rows.map(({ attempted_at: attemptedAt, ...row }) => ({
    ...row,
    /** As freshness has it, or `not_read` where it was not asked for this time and nothing else is wrong. */
    state: isReadWell(row) && (attemptedAt ?? asked.mark.at) < asked.mark.at ? 'not_read' : row.state,
    /** Whether the registry refused it although the installation permits it. */
    refused: row.reason === 'no_permission' && row.error_code === 'forbidden',
    /** Whether `error` says something of a complete read: rows changed by hand that were restored, or unreadable rows. */
    noted: NOTED.includes(row.error_code ?? '') && (attemptedAt ?? '') >= asked.mark.at,
  }));
}

/** Nothing is wrong: it is only to be read again. */
export const BEFORE_ITS_TURN: readonly (string | null)[] = splitWords(
  'unread_webhook worker_gone overdue clock_changed',
);

const NOTED = splitWords('mended rows_unreadable');

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
  { mark, organizationId: id }: FollowedRequest,
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
