import { sql } from 'kysely';
import { MAX_ATTEMPTS } from '../../../inbox/job.js';
import type { NowParam } from '../../inbox/inbox-database.js';
import type { JobSteps } from '../../inbox/job-steps.js';
import { named, select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import type { Batch } from '../../statement.js';

/** The arguments of a function of the migrations, as JSON. */
type Arguments = { readonly given: string };
type WithRows = Arguments & { readonly rows: string };

const job = named('inbox.jobs', 'job');
const counter = named('inbox.claims', 'counter');

/** Returns a row without a job if the queue is empty. */
const READ_QUEUE = prepared(
  ({ fn }, { given, now }: Params<Arguments & NowParam>) =>
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
    })} FROM ${counter()} LEFT JOIN inbox.queue(${given}::jsonb) AS job ON true`,
);
const TAKE = prepared(
  (_, { given, rows }: Params<WithRows>) =>
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
    })} FROM inbox.take(${given}::jsonb, ${rows}::jsonb) AS job`,
);
const FINISH = prepared(
  (_, { given, rows }: Params<WithRows>) =>
    sqlStatement`SELECT ${select({ claim: sql<number>`claim` })} FROM inbox.finish(${given}::jsonb, ${rows}::jsonb) AS claim`,
);

/** `send` runs one statement as a transaction: each step is a function of the migrations, whose plans a connection keeps. */
export function createJobSteps(send: Batch, readClock: () => string | null): JobSteps {
  return {
    readQueue: async limit => {
      const at = readClock();
      const [rows] = await send(READ_QUEUE({ now: at, given: JSON.stringify({ at, limit }) }));
      const [first] = rows;
      if (first === undefined) throw new Error('expected the counter of claims, got none');
      const jobs = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ ...row, id }]));
      return { now: first.now, highestClaim: first.last, jobs };
    },
    claimJobs: async (parts, leaseMs) => {
      const slots = parts.reduce((sum, part) => sum + part.slots, 0);
      const given = { at: readClock(), lease_ms: leaseMs, max_attempts: MAX_ATTEMPTS, slots };
      const [taken] = await send(TAKE({ given: JSON.stringify(given), rows: JSON.stringify(parts) }));
      return taken;
    },
    finishJobs: async jobs => {
      const rows = jobs.map(({ replacesEarlier, ...row }) => ({ ...row, replaces_earlier: replacesEarlier }));
      const given = JSON.stringify({ at: readClock() });
      const [finished] = await send(FINISH({ given, rows: JSON.stringify(rows) }));
      return finished.map(({ claim }) => claim);
    },
  };
}
