// Runs a worker that claims and ends jobs, beside a transaction that stays open, so that PostgreSQL cannot remove dead rows.
import { openEngine } from '../../../dist/src/store/open-engine.js';
import { withConnection } from './engine.js';
import { median } from './figures.js';

/** @import { InboxPort } from '../../../dist/src/inbox/port.js' */
/** @import { JobSettlement, ClaimRef } from '../../../dist/src/inbox/job.js' */

const SLOTS = 32;
const LEASE_MS = 60_000;
const PAUSE_MS = 25;

/**
 * Runs part of a benchmark beside an open transaction and a worker that reads nothing. Returns what the worker did.
 * @param {string} url
 * @param {(worker: ReturnType<typeof startWorker>) => Promise<void>} measure
 */
export async function besideOldTransaction(url, measure) {
  return await withConnection(url, async client => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT count(*) FROM inbox.deliveries');
    const worker = startWorker(url);
    try {
      await measure(worker);
    } finally {
      await worker.stop();
    }
  });
}

/**
 * Starts a worker that claims jobs and ends each at once.
 * @param {string} url
 */
function startWorker(url) {
  const engine = openEngine({ dataDir: '', diskReserveMb: null, database: { url, queryUrl: null, pool: 2 } });
  const stopping = new AbortController();
  /** @type {number[]} */
  let claimTimes = [];
  let jobsEnded = 0;

  /** @param {InboxPort} inbox */
  async function turn(inbox) {
    const begun = performance.now();
    const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots: SLOTS }], leaseMs: LEASE_MS });
    claimTimes.push(performance.now() - begun);
    if (jobs.length > 0) await inbox.settle(jobs.map(endOf));
    jobsEnded += jobs.length;
    return jobs.length;
  }

  async function work() {
    const inbox = await engine.openInbox(Date.now);
    while (!stopping.signal.aborted) {
      const taken = await turn(inbox).catch(error => {
        console.log(`    the worker: ${error.message}`);
        return 0;
      });
      if (taken < SLOTS) await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
    }
    await inbox.close();
  }

  const ended = work();
  return {
    /** Returns the figures since the last call. */
    takeFigures: () => {
      const figures = { claimMs: claimTimes.length === 0 ? 0 : median(claimTimes), jobsEnded };
      claimTimes = [];
      jobsEnded = 0;
      return figures;
    },
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}

/**
 * @param {ClaimRef} job
 * @returns {JobSettlement}
 */
function endOf({ id, claim }) {
  return { claim: { id, claim }, end: { act: 'done', outcome: 'changed' } };
}

/**
 * Returns the numbers of live and dead rows in the table of jobs, and its size.
 * @param {string} url
 */
export async function readBloat(url) {
  const { rows } = await withConnection(url, client =>
    client.query(`SELECT n_live_tup AS live, n_dead_tup AS dead, pg_total_relation_size(relid) / 1000000 AS megabytes
      FROM pg_stat_user_tables WHERE schemaname = 'inbox' AND relname = 'jobs'`),
  );
  return rows[0];
}
