import { type RawBuilder, sql } from 'kysely';
import {
  DELIVERY_PAGE_SIZE,
  FOLD_WINDOW_MS,
  MAX_SEARCHED_DELIVERIES,
  toDeliveryPage,
} from '../../inbox/delivery.js';
import { findLowestAnsweredJobId, INSTALLATION_JOB, JOB_STATES } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Table } from '../dialect.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { NowParam, InboxDatabase } from './inbox-database.js';

type InboxQueries = Pick<
  InboxPort,
  | 'countJobs'
  | 'listPendingInstallations'
  | 'listSignedTexts'
  | 'findNewestDelivery'
  | 'listAcceptedDeliveries'
  | 'haveDeliveriesArrived'
>;

const job = tableRef('inbox.jobs', 'job');
const done = tableRef('inbox.jobs', 'done');
const delivery = tableRef('inbox.deliveries', 'delivery');

/**
 * Returns a subquery `job` with columns of the jobs that are not done. It reads the jobs of each state through the index of
 * that state.
 */
function selectUnfinishedJobs(...columns: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  const inEachState = JOB_STATES.filter(state => state !== 'done').map(
    state => sql`SELECT ${sql.join(columns)} FROM ${job()} WHERE ${job.state} = ${state}`,
  );
  return sql`(${sql.join(inEachState, sql` UNION ALL `)}) AS job`;
}

const COUNT_JOBS = prepared(() => {
  const countIn = (state: (typeof JOB_STATES)[number]) =>
    sql<number>`count(*) FILTER (WHERE ${job.state} = ${state})`;
  return sqlStatement`SELECT ${select({
    waiting: countIn('waiting'),
    running: countIn('running'),
    paused: countIn('paused'),
    failed: countIn('failed'),
    oldestRunAt: sql<string | null>`min(${job.run_at}) FILTER (WHERE ${job.state} = 'waiting')`,
  })} FROM ${selectUnfinishedJobs(job.state, job.run_at)}`;
});
/** Leaves out a failed job if a later job of the installation is done. */
const LIST_PENDING_INSTALLATIONS = prepared(
  () =>
    sqlStatement`SELECT ${select({
      id: sql<string>`${job.installation_id}`,
      organizationId: sql<string | null>`max(${job.organization_id})`,
    })} FROM ${selectUnfinishedJobs(job.kind, job.state, job.installation_id, job.organization_id, job.started_at)}
    WHERE ${job.kind} = ${INSTALLATION_JOB} AND ${job.installation_id} IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM ${done()}
      WHERE ${job.state} = 'failed' AND ${done.installation_id} = ${job.installation_id} AND ${done.kind} = ${job.kind}
        AND ${done.state} = 'done' AND ${done.started_at} > ${job.started_at})
    GROUP BY ${job.installation_id} ORDER BY ${job.installation_id}`,
);
const LIST_TEXTS = prepared(
  ({ db }, { afterId, limit }: Params<{ readonly afterId: number; readonly limit: number }>) =>
    db
      .selectFrom('inbox.signed_texts')
      .select(['id', 'signed_data as signedData'])
      .where('id', '>', afterId)
      .where('signed_data', '<>', '')
      .orderBy('id')
      .limit(limit),
);
type AnsweredJobs = { readonly installationId: string; readonly firstJobId: number; readonly jobId: number };
const FIND_NEWEST = prepared(({ db }, { installationId, firstJobId, jobId }: Params<AnsweredJobs>) =>
  db
    .selectFrom('inbox.deliveries')
    .select('id')
    .where('id', '>', eb =>
      eb
        .selectFrom('inbox.deliveries')
        .select(newest => newest(newest.fn.max('id'), '-', sql.lit(MAX_SEARCHED_DELIVERIES)).as('id')),
    )
    .where('installation_id', '=', installationId)
    .where('verdict', '=', 'accepted')
    .where(eb => eb.between('job_id', firstJobId, jobId))
    .orderBy('id', 'desc')
    .limit(1),
);

type DeliveryPageParams = { readonly since: string; readonly until: string; readonly afterId: number };
/**
 * Reads the deliveries of all installations through the index by arrival. An index by installation would cost the receiver a
 * fifth of its throughput, and double the bytes in the log.
 */
const LIST_DELIVERIES = prepared((_, { since, until, afterId }: Params<DeliveryPageParams>) => {
  const own = tableRef('inbox.deliveries');
  const arrivedBy = (instant: typeof own.received_at | typeof own.unread_duplicate_at) =>
    sql`(SELECT ${own.id}, ${own.installation_id}, ${instant} AS received_at, ${own.verdict}
      FROM ${own()} WHERE ${instant} >= ${since} AND ${instant} <= ${until} AND (${instant}, ${own.id}) > (${since}, ${afterId})
      ORDER BY ${instant}, ${own.id} LIMIT ${DELIVERY_PAGE_SIZE}) AS delivery`;
  const columns = select({
    id: delivery.id,
    installationId: delivery.installation_id,
    receivedAt: delivery.received_at,
    verdict: delivery.verdict,
  });
  return sqlStatement`SELECT ${columns} FROM ${arrivedBy(own.received_at)}
    UNION ALL SELECT ${columns} FROM ${arrivedBy(own.unread_duplicate_at)}
    ORDER BY "receivedAt", "id" LIMIT ${DELIVERY_PAGE_SIZE}`;
});

const arrivalQuery = jsonRelation('query', {
  position: 'int',
  rowsFrom: 'instant',
  since: 'instant',
  event: 'text',
});
type ArrivalQueries = NowParam & { readonly installationId: string; readonly queries: Table };
/** Uses the index by arrival. */
const HAVE_ARRIVED = prepared(({ fn }, { now, installationId, queries }: Params<ArrivalQueries>) => {
  const { position, rowsFrom, since, event } = arrivalQuery.columns;
  const hasArrived = sql<number>`CASE WHEN EXISTS (SELECT 1 FROM ${delivery()}
    WHERE ${delivery.installation_id} = ${installationId} AND ${delivery.verdict} = 'accepted'
      AND ${delivery.received_at} BETWEEN ${rowsFrom} AND ${fn.clock(now)}
      AND coalesce(${delivery.last_duplicate_at}, ${delivery.received_at}) >= ${since}
      AND (${event} IS NULL OR ${delivery.event} = ${event})) THEN 1 ELSE 0 END`;
  return sqlStatement`SELECT ${select({ hasArrived })} FROM ${arrivalQuery.from(fn, queries)} ORDER BY ${position}`;
});

/** Creates the methods of `InboxPort` that only read. */
export function createInboxQueries({ read, now }: InboxDatabase): InboxQueries {
  return {
    countJobs: async () => {
      const [[counts]] = await read(COUNT_JOBS());
      if (counts === undefined) throw new Error('expected counts of jobs, got none');
      return counts;
    },
    listPendingInstallations: async () => (await read(LIST_PENDING_INSTALLATIONS()))[0],
    listSignedTexts: async (afterId, limit) => (await read(LIST_TEXTS({ afterId, limit })))[0],
    findNewestDelivery: async ({ id, installationId, trigger }) => {
      const firstJobId = findLowestAnsweredJobId({ id, trigger });
      if (installationId === null || firstJobId === null) return null;
      const [[newest]] = await read(FIND_NEWEST({ installationId, firstJobId, jobId: id }));
      return newest?.id ?? null;
    },
    haveDeliveriesArrived: async (installationId, queries) => {
      const rows = queries.map(({ since, event = null, isNew = false }, position) => ({
        position,
        rowsFrom: formatInstant(isNew ? since : since - FOLD_WINDOW_MS),
        since: formatInstant(since),
        event,
      }));
      const values = { installationId, queries: arrivalQuery.toTable(rows), now: now() };
      const [results] = await read(HAVE_ARRIVED(values));
      return results.map(({ hasArrived }) => hasArrived === 1);
    },
    listAcceptedDeliveries: async ({ since, until, afterId }) =>
      toDeliveryPage((await read(LIST_DELIVERIES({ since, until, afterId })))[0], until),
  };
}
