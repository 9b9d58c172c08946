import type { Reader } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { splitWords } from '../resources/entry.js';
import { type Expression, sql, type SqlBool } from 'kysely';
import { queryBuilder } from '../store/sql/builder.js';
import { buildOrganizationCondition, readFirst, readOne } from './read-one.js';

type Watermark = Awaited<ReturnType<typeof readWatermark>>;

/** Reads the highest job id and sync id at the time of a request. Jobs and syncs that start after the request have higher ids. */
export async function readWatermark(reader: Reader, now: number) {
  const newest = await readOne(
    reader,
    queryBuilder.selectNoFrom(eb => [
      eb
        .selectFrom('inbox.jobs')
        .select(jobs => jobs.fn.max<number | null>('id').as('id'))
        .as('job'),
      eb
        .selectFrom('mirror.syncs')
        .select(syncs => syncs.fn.max<number | null>('id').as('id'))
        .as('sync'),
    ]),
  );
  return { job: newest.job ?? 0, sync: newest.sync ?? 0, at: new Date(now).toISOString() };
}

export interface FollowedRequest {
  readonly watermark: Watermark;
  readonly jobs: readonly number[];
  /** Null follows all organizations, and installations that are found meanwhile. */
  readonly organizationId: string | null;
}

/** A job starts this long after another job of the same installation. */
const PACE_MS = 1000;

const FOLLOWED_COLUMNS = [
  'id',
  'kind',
  'state',
  'organization_id',
  'installation_id',
  'attempts',
  'started_at',
  'run_at',
  'error_or_pause_code',
  'last_error',
] as const;

/** Selects the jobs that meet all conditions, with the columns that a person sees while following them. */
function selectFollowed(...conditions: readonly Expression<SqlBool>[]) {
  return conditions.reduce(
    (query, condition) => query.where(condition),
    queryBuilder.selectFrom('inbox.jobs').select(FOLLOWED_COLUMNS),
  );
}

export type FollowedJob = Awaited<ReturnType<typeof readFollowed>>[number];

/**
 * Reads the jobs that a person follows: the requested ones, those they were merged into, and downloads of certificates. If all
 * organizations are followed, also reads jobs for installations that were found meanwhile.
 */
export async function readFollowed(
  { all }: Reader,
  { watermark, jobs, organizationId }: FollowedRequest,
  now: number,
) {
  const [at, soon] = [new Date(now).toISOString(), new Date(now + PACE_MS).toISOString()];
  const downloads = sql<boolean>`kind = 'certificates' AND ${buildOrganizationCondition(organizationId)}`;
  const found = sql<boolean>`id > ${watermark.job} AND kind = 'installation' AND trigger = 'schedule' AND run_at <= ${at}`;
  const requested = queryBuilder
    .withRecursive('requested(id)', eb =>
      eb
        .selectFrom('inbox.jobs')
        .select('id')
        .where('id', 'in', jobs)
        .union(union =>
          union
            .selectFrom('requested')
            .innerJoin('inbox.jobs as job', 'job.id', 'requested.id')
            .select(sql.ref<number>('job.merged_into').as('id'))
            .where('job.merged_into', 'is not', null),
        ),
    )
    .selectFrom('inbox.jobs')
    .select(FOLLOWED_COLUMNS)
    .where('id', 'in', eb => eb.selectFrom('requested').select('requested.id'))
    .where('merged_into', 'is', null)
    .union(selectFollowed(downloads, sql`state = 'running'`))
    .union(selectFollowed(downloads, sql`state = 'waiting' AND run_at <= ${soon}`));
  return await all(
    (organizationId === null ? requested.union(selectFollowed(found)) : requested).orderBy('id'),
  );
}

/** Whether any worker runs a job now. */
export async function isAnyJobRunning(reader: Reader, now: number): Promise<boolean> {
  const running = queryBuilder
    .selectFrom('inbox.jobs')
    .select('id')
    .where('state', '=', 'running')
    .where('claimed_until', '>', new Date(now).toISOString());
  return (await readFirst(reader, running)) !== null;
}

export const SYNCED_COLUMNS = splitWords('organization resource added changed removed unchanged state error');

export type SyncedResourceResult = Awaited<ReturnType<typeof readSynced>>[number];

/**
 * Reads the state of each list, and which changes its syncs have made since the request. Leaves out organizations that removed the app,
 * unless the request is for such an organization.
 */
export async function readSynced(reader: Reader, request: FollowedRequest, resources: readonly string[]) {
  const rows = await readStates(reader, request, resources);
  return rows.map(({ attempted_at: attemptedAt, ...row }) => ({
    ...row,
    /** The state of freshness, or `not_read` if the list was not read since the watermark and nothing else is wrong. */
    state:
      wasReadCompletely(row) && (attemptedAt ?? request.watermark.at) < request.watermark.at
        ? 'not_read'
        : row.state,
    /** Whether the registry refused the list although the installation has the permission. */
    refused: row.reason === 'no_permission' && row.error_code === 'forbidden',
    /** Whether `error` is a remark about a complete read: about restored or unreadable rows. */
    noted: NOTED.includes(row.error_code ?? '') && (attemptedAt ?? '') >= request.watermark.at,
  }));
}

/** Reasons of stale lists that nothing is wrong with: they only wait to be read again. */
export const BEFORE_ITS_TURN: readonly (string | null)[] = splitWords(
  'unread_webhook worker_gone overdue clock_changed',
);

const NOTED = splitWords('mended rows_unreadable');

type Standing = Pick<Tables['freshness'], 'state' | 'reason' | 'failing_since'>;

/** Whether the last read of a list was complete, whatever changed since. */
function wasReadCompletely({ state, reason, failing_since: failingSince }: Standing): boolean {
  return failingSince === null && (state === 'fresh' || BEFORE_ITS_TURN.includes(reason));
}

/** Reads the state of each list, and the changes that its syncs made after the request. Sorted by the name of the organization. */
async function readStates(
  { all }: Reader,
  { watermark, organizationId }: FollowedRequest,
  resources: readonly string[],
) {
  const changes = queryBuilder
    .selectFrom('mirror.syncs')
    .select(eb => [
      'organization_id',
      'resource',
      eb.fn.sum<number>('rows_added').as('added'),
      eb.fn.sum<number>('rows_changed').as('changed'),
      eb.fn.sum<number>('rows_removed').as('removed'),
      eb.fn.max<number>('rows_unchanged').as('unchanged'),
    ])
    .where('id', '>', watermark.sync)
    .groupBy(['organization_id', 'resource']);
  const lists = queryBuilder
    .selectFrom('mirror.freshness as f')
    .innerJoin('mirror.resource_states as r', join =>
      join.onRef('r.organization_id', '=', 'f.organization_id').onRef('r.resource', '=', 'f.resource'),
    )
    .leftJoin('mirror.organizations as o', 'o.id', 'f.organization_id')
    .leftJoin(changes.as('s'), join =>
      join.onRef('s.organization_id', '=', 'f.organization_id').onRef('s.resource', '=', 'f.resource'),
    )
    .select(eb => [
      'r.organization_id',
      eb.fn.coalesce('o.full_name', 'r.organization_id').as('organization'),
      'f.resource',
      eb.fn.coalesce('s.added', sql.lit(0)).as('added'),
      eb.fn.coalesce('s.changed', sql.lit(0)).as('changed'),
      eb.fn.coalesce('s.removed', sql.lit(0)).as('removed'),
      eb.fn.coalesce('s.unchanged', sql.lit(0)).as('unchanged'),
      'f.state',
      'f.reason',
      'f.failing_since',
      'f.error',
      'f.attempted_at',
      'r.error_code',
    ])
    .where('f.resource', 'in', resources)
    .orderBy('organization')
    .orderBy('r.organization_id')
    .orderBy('f.resource');
  return await all(
    organizationId === null
      ? lists.where('f.reason', 'is distinct from', 'uninstalled')
      : lists.where('f.organization_id', '=', organizationId),
  );
}
