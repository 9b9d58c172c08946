import type { Reader } from '../../store/contract/reader.js';
import { columns, first, largest, ofOne, plain, sql } from '../sql.js';

type Mark = Awaited<ReturnType<typeof readMark>>;

/** Where the tables stood when the work was asked for. */
export async function readMark(reader: Reader, now: number) {
  const job = await largest<number>(reader, 'id', plain('inbox.jobs'));
  const sync = await largest<number>(reader, 'id', plain('mirror.syncs'));
  return { job: job ?? 0, sync: sync ?? 0, at: new Date(now).toISOString() };
}

export interface Asked {
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

export type Followed = Awaited<ReturnType<typeof readFollowed>>[number];

/**
 * The jobs that were asked for, those that took over from them, looks at installations that were found on the way,
 * and the certificates that are being fetched for them.
 */
export async function readFollowed({ all }: Reader, { mark, jobs, organizationId }: Asked, now: number) {
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
