import { type RawBuilder, sql } from 'kysely';
import { MAX_ATTEMPTS, PARTS, PRIORITIES } from '../../../inbox/job.js';
import type { Table } from '../../dialect.js';
import type { NowParam, InboxDatabase } from '../../inbox/inbox-database.js';
import type { ChosenJobs, JobQueue } from '../../inbox/job-steps.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';

const own = tableRef('inbox.jobs');
const job = tableRef('inbox.jobs', 'job');
const running = tableRef('inbox.jobs', 'running');
const other = tableRef('inbox.jobs', 'other');
const counter = tableRef('inbox.claims');

const RUNNING = sql`running AS MATERIALIZED (
  SELECT ${own.part}, ${own.organization_id}, ${own.installation_id} FROM ${own()} WHERE ${own.state} = 'running')`;
/**
 * The condition that no running job has the same part and the same organization or installation. A running job with an expired
 * lease counts too, and is claimed first.
 */
const IS_FREE = sql`NOT EXISTS (SELECT 1 FROM running WHERE ${running.part} = ${job.part}
  AND (${running.organization_id} = ${job.organization_id} OR ${running.installation_id} = ${job.installation_id}))`;
const READ_COLUMNS = sql.join([
  job.id,
  job.part,
  job.state,
  job.priority,
  job.attempts,
  job.installation_id,
  job.organization_id,
  job.run_at,
  job.created_at,
  job.claimed_until,
]);

/** The lanes of the queue, as SQL conditions. Within a lane, jobs are claimed in the order of their run times. */
const LANES = PARTS.flatMap(part => [
  ...Object.values(PRIORITIES).map(
    priority =>
      sql`${own.state} = 'waiting' AND ${own.part} = ${sql.lit(part)} AND ${own.priority} = ${sql.lit(priority)}`,
  ),
  sql`${own.state} = 'paused' AND ${own.part} = ${sql.lit(part)}`,
]);
/** Jobs that failed during an outage of the registry are claimed before others: see `prioritizeFailed`. */
const FIRST_LANES = PARTS.map(
  part =>
    sql`${own.state} = 'waiting' AND ${own.part} = ${sql.lit(part)} AND ${own.attempts} > 0 AND ${own.run_at} <= ${own.created_at}`,
);

/** Reads the running jobs, and the first due and the next waiting jobs of each lane. Each search reads one range of one index. */
const READ_QUEUE = prepared(({ fn }, { now, limit }: Params<NowParam & { readonly limit: number }>) => {
  const findDue = (lane: RawBuilder<unknown>) =>
    sql`SELECT * FROM (SELECT ${READ_COLUMNS} FROM ${job()} WHERE ${lane} AND ${own.run_at} <= ${now} AND ${IS_FREE}
      ORDER BY ${own.run_at} LIMIT ${fn.cast('int', limit)})`;
  const findNext = (lane: RawBuilder<unknown>) =>
    sql`SELECT * FROM (SELECT ${READ_COLUMNS} FROM ${job()} WHERE ${lane} AND ${own.run_at} > ${now} ORDER BY ${own.run_at} LIMIT 1)`;
  const searches = [
    sql`SELECT ${READ_COLUMNS} FROM ${job()} WHERE ${own.state} = 'running'`,
    ...[...FIRST_LANES, ...LANES].map(findDue),
    ...LANES.map(findNext),
  ];
  return sqlStatement`WITH ${RUNNING} SELECT ${select({
    id: job.id,
    part: job.part,
    state: job.state,
    priority: job.priority,
    attempts: job.attempts,
    installationId: job.installation_id,
    organizationId: job.organization_id,
    runAt: job.run_at,
    createdAt: job.created_at,
    claimedUntil: job.claimed_until,
    lastStartedAt: sql<string | null>`(SELECT max(${other.started_at}) FROM ${other()}
      WHERE ${other.installation_id} = ${job.installation_id} AND ${other.part} = ${job.part})`,
  })} FROM (${sql.join(searches, sql` UNION ALL `)}) AS job`;
});
const READ_COUNTER = prepared(({ db }) => db.selectFrom('inbox.claims').select('last'));

/** Claims are numbered one after the other. */
const RESERVE_NUMBERS = prepared(({ db }, { slots }: Params<{ readonly slots: number }>) =>
  db.updateTable('inbox.claims').set(({ eb }) => ({ last: eb('last', '+', slots) })),
);
const chosenJob = jsonRelation('chosen', { job_id: 'int', position: 'int' });
type TakeValues = NowParam & {
  readonly leaseMs: number;
  readonly chosen: Table;
  readonly slots: number;
  /** How many of the reserved numbers are for this part and the parts after it. */
  readonly reserved: number;
};
const TAKE_JOBS = prepared(({ fn }, { now, leaseMs, chosen, slots, reserved }: Params<TakeValues>) => {
  const { job_id: jobId, position } = chosenJob.columns;
  return sqlStatement`WITH ${RUNNING},
    due AS MATERIALIZED (
      SELECT ${job.id} AS due_id, ${position} AS position
      FROM ${chosenJob.from(fn, chosen)} JOIN ${job()} ON ${job.id} = ${jobId}
      WHERE ${job.attempts} < ${MAX_ATTEMPTS} AND CASE WHEN ${job.state} IN ('waiting', 'paused') THEN ${job.run_at}
          WHEN ${job.state} = 'running' THEN ${job.claimed_until} END <= ${now}
        AND (${job.state} = 'running' OR ${IS_FREE})
      ORDER BY ${position} LIMIT ${fn.cast('int', slots)}
    ),
    numbered AS (SELECT due_id, row_number() OVER (ORDER BY position) AS number FROM due)
    UPDATE ${own()} SET ${own.state} = 'running', ${own.attempts} = ${own.attempts} + 1, ${own.started_at} = ${now},
      ${own.claimed_until} = ${fn.addMs(now, leaseMs)},
      ${own.claim} = (SELECT ${counter.last} FROM ${counter()}) - ${reserved} + number
    FROM numbered WHERE ${own.id} = due_id
    RETURNING ${select({
      id: own.id,
      claim: own.claim,
      kind: own.kind,
      organizationId: own.organization_id,
      installationId: own.installation_id,
      part: own.part,
      dedupeKey: own.dedupe_key,
      trigger: own.trigger,
      onlyDuplicates: own.only_duplicates_asked,
      payload: own.payload,
      attempts: own.attempts,
      runAt: own.run_at,
      createdAt: own.created_at,
    })}`;
});

/** Creates the `JobQueue` of SQLite. It has no `finishJobs`, because SQLite runs one statement for each job fast enough. */
export function createJobQueue({ read, commit, now }: InboxDatabase): JobQueue {
  /**
   * For each element of `parts`, builds the statement that claims the chosen jobs of the element. Returns null instead of a statement for
   * an element without chosen jobs. RESERVE_NUMBERS, which reserves the claim numbers, must run before in the same transaction.
   */
  function buildClaimStatements(
    values: NowParam & { readonly leaseMs: number },
    parts: readonly ChosenJobs[],
  ) {
    let reserved = countSlots(parts);
    return parts.map(({ slots, ids }) => {
      const chosen = chosenJob.toTable(ids.map((id, position) => ({ job_id: id, position })));
      const statement = ids.length === 0 ? null : TAKE_JOBS({ ...values, chosen, slots, reserved });
      reserved -= slots;
      return statement;
    });
  }

  return {
    readQueue: async limit => {
      const at = now();
      const [[counted], jobs] = await read(READ_COUNTER(), READ_QUEUE({ now: at, limit }));
      if (counted === undefined || at === null) throw new Error('expected the counter of claims, got none');
      return { now: at, highestClaim: counted.last, jobs };
    },
    claimJobs: async (parts, leaseMs) => {
      const reserve = RESERVE_NUMBERS({ slots: countSlots(parts) });
      const [, ...taken] = await commit(reserve, ...buildClaimStatements({ now: now(), leaseMs }, parts));
      return taken.flat();
    },
  };
}

/** Returns how many jobs may be claimed for all parts together. */
function countSlots(parts: readonly ChosenJobs[]): number {
  return parts.reduce((sum, { slots }) => sum + slots, 0);
}
