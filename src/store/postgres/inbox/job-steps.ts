import { sql } from 'kysely';
import { MAX_ATTEMPTS } from '../../../inbox/job.js';
import type { NowParam } from '../../inbox/inbox-database.js';
import type { JobQueue } from '../../inbox/job-steps.js';
import { tableRef, select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import type { RunBatch } from '../../statement.js';

/** The arguments of an SQL function, as JSON. */
type Arguments = { readonly values: string };
type ArgumentsWithRows = Arguments & { readonly rows: string };

const job = tableRef('inbox.jobs', 'job');
const counter = tableRef('inbox.claims', 'counter');

/** Returns one row without a job if the queue is empty. */
const READ_QUEUE = prepared(
  ({ fn }, { values, now }: Params<Arguments & NowParam>) =>
    sqlStatement`SELECT ${select({
      now: fn.clock(now),
      last: counter.last,
      id: sql<number | null>`${job.id}`,
      part: job.part,
      state: job.state,
      priority: job.priority,
      attempts: job.attempts,
      installationId: job.installation_id,
      organizationId: job.organization_id,
      runAt: job.run_at,
      createdAt: job.created_at,
      claimedUntil: job.claimed_until,
      lastStartedAt: sql<string | null>`job.last_started_at`,
    })} FROM ${counter()} LEFT JOIN inbox.queue(${values}::jsonb) AS job ON true`,
);
const TAKE_JOBS = prepared(
  (_, { values, rows }: Params<ArgumentsWithRows>) =>
    sqlStatement`SELECT ${select({
      id: job.id,
      claim: job.claim,
      kind: job.kind,
      organizationId: job.organization_id,
      installationId: job.installation_id,
      part: job.part,
      dedupeKey: job.dedupe_key,
      trigger: job.trigger,
      onlyDuplicates: job.only_duplicates_asked,
      payload: job.payload,
      attempts: job.attempts,
      runAt: job.run_at,
      createdAt: job.created_at,
    })} FROM inbox.take(${values}::jsonb, ${rows}::jsonb) AS job`,
);
const FINISH_JOBS = prepared(
  (_, { values, rows }: Params<ArgumentsWithRows>) =>
    sqlStatement`SELECT ${select({ claim: sql<number>`claim` })} FROM inbox.finish(${values}::jsonb, ${rows}::jsonb) AS claim`,
);

/**
 * Creates the `JobQueue` of PostgreSQL. `send` must run each statement in its own transaction. `readClock` returns the current
 * time, or null to use the clock of the database.
 */
export function createJobQueue(send: RunBatch, readClock: () => string | null): JobQueue {
  // Each operation calls one SQL function, because connections cache the query plans of functions.
  return {
    readQueue: async limit => {
      const at = readClock();
      const [rows] = await send(READ_QUEUE({ now: at, values: JSON.stringify({ at, limit }) }));
      const [first] = rows;
      if (first === undefined) throw new Error('expected the counter of claims, got none');
      const jobs = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ ...row, id }]));
      return { now: first.now, highestClaim: first.last, jobs };
    },
    claimJobs: async (parts, leaseMs) => {
      const slots = parts.reduce((sum, part) => sum + part.slots, 0);
      const values = { at: readClock(), lease_ms: leaseMs, max_attempts: MAX_ATTEMPTS, slots };
      const [taken] = await send(TAKE_JOBS({ values: JSON.stringify(values), rows: JSON.stringify(parts) }));
      return taken;
    },
    finishJobs: async jobs => {
      const rows = jobs.map(({ replacesEarlier, ...row }) => ({ ...row, replaces_earlier: replacesEarlier }));
      const values = JSON.stringify({ at: readClock() });
      const [finished] = await send(FINISH_JOBS({ values, rows: JSON.stringify(rows) }));
      return finished.map(({ claim }) => claim);
    },
  };
}
