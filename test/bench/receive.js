// npm run bench -- receive [--engine postgres] [ROUNDS] [SECONDS] [OPEN_LOOP_SECONDS] [MINUTES]: measures the receiver in turn with two
// baselines, two small Express servers. OPEN_LOOP_SECONDS is how long deliveries are sent at a fixed rate. On PostgreSQL, MINUTES is how
// long the receiver is measured while a worker runs and a transaction stays open.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../dist/src/store/sqlite/driver.js';
import { startReceiver } from '../support/receiver-child.js';
import { openConnection, percentile, prepareDeliveries } from '../support/load.js';
import { startChild, withFolder } from './parts/children.js';
import { withConnection, freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { createFigures, median, peakMegabytes } from './parts/figures.js';
import { besideOldTransaction, readBloat } from './parts/old-transaction.js';
import { IS_SMALLEST } from './parts/size.js';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Server as PostgresServer } from '../postgres/server.js' */
/** @import { LoadConnection, PreparedDelivery } from '../support/load.js' */
/** @typedef {ReturnType<typeof measured>} Measured */
/** @typedef {Record<'ours' | 'bare' | 'insert', Measured>} Servers */

const CONNECTIONS = 64;
const OPEN_LOOP_PER_SECOND = 500;
const SECRET = 'a-secret-of-the-benchmark';
const APP_ID = 'app-of-the-benchmark';
const INSTALLATIONS = Array.from({ length: 200 }, (_, index) => ({
  id: `installation-${index}`,
  organizationId: `organization-${index}`,
}));

const { engine, rest } = readArguments();
const [usualRounds, usualSeconds, usualOpenLoop, usualMinutes] = IS_SMALLEST
  ? [1, 1, 1, 0.05]
  : [5, 4, 30, 1];
const [
  rounds = usualRounds,
  seconds = usualSeconds,
  openLoopSeconds = usualOpenLoop,
  minutes = usualMinutes,
] = rest.map(Number);
/** @type {(amount: number) => PreparedDelivery[]} */
const signed = amount =>
  prepareDeliveries(amount, { appId: APP_ID, secret: SECRET, installations: INSTALLATIONS });

const TITLES = {
  ours: '(a) our receiver, stored and flushed',
  bare: '(b) Express, parse and HMAC, nothing stored',
  insert: '(c) Express, one flushed insert a request',
};
/** @type {readonly ('ours' | 'bare' | 'insert')[]} */
const SIDES = ['ours', 'bare', 'insert'];
/** Bounds for each engine, as shares of the throughput of the baselines in the same run. */
const BOUNDS = { sqlite: { bare: 0.85, insert: 1.5 }, postgres: { bare: 0.65, insert: 1.5 } };

const { demand, end } = createFigures();
await withFolder(folder =>
  engine === 'sqlite' ? onFiles(folder) : withPostgres(server => onServer(folder, server)),
);
end();

/** @param {string} folder */
async function onFiles(folder) {
  const ours = await startReceiver(folder, { appId: APP_ID, secret: SECRET });
  try {
    const servers = {
      ours: measured(ours),
      bare: await startFloor('bare', folder),
      insert: await startFloor('insert', folder),
    };
    await compareThroughput(servers);
    await openLoop(servers.ours, `${OPEN_LOOP_PER_SECOND}/s for ${openLoopSeconds} s, open loop`);
    await startChild('disk-writer.js', [folder]);
    await openLoop(servers.ours, 'the same beside a process that writes the mirror without pause');
    report(servers.ours, storedInFile(folder));
  } finally {
    ours.child.kill();
  }
}

/**
 * @param {string} folder
 * @param {PostgresServer} server
 */
async function onServer(folder, server) {
  const url = await freshDatabase(server);
  const environment = { MIRROR_DATABASE_URL: url };
  const ours = await startReceiver(folder, { appId: APP_ID, secret: SECRET, environment });
  try {
    const servers = {
      ours: measured(ours),
      bare: await startFloor('bare', folder),
      insert: await startFloor('insert-postgres', await freshDatabase(server, { migrated: false })),
    };
    await compareThroughput(servers);
    await openLoop(servers.ours, `${OPEN_LOOP_PER_SECOND}/s for ${openLoopSeconds} s, open loop`);
    await besideOldTransaction(url, worker => measureBesideOldTransaction(servers.ours, url, worker));
    report(servers.ours, await storedOnServer(url));
  } finally {
    ours.child.kill();
  }
}

/**
 * Measures whether the throughput stays the same while PostgreSQL cannot remove dead rows of the queue.
 * @param {Measured} server
 * @param {string} url
 * @param {Parameters<Parameters<typeof besideOldTransaction>[1]>[0]} worker
 */
async function measureBesideOldTransaction(server, url, worker) {
  console.log(`the same for ${minutes} minutes beside a transaction that stays open, and a worker`);
  const parts = Math.max(2, Math.round(minutes));
  for (let part = 1; part <= parts; part += 1) {
    await openLoop(server, `  part ${part} of ${parts}`, (minutes * 60) / parts);
    const { claimMs, jobsEnded } = worker.takeFigures();
    const { live, dead, megabytes } = await readBloat(url);
    console.log(
      `    jobs ended ${jobsEnded}, a claim ${claimMs.toFixed(1)} ms, rows of jobs ${live} and ${dead} dead in ${megabytes} MB`,
    );
  }
}

/**
 * @param {string} kind
 * @param {string} where
 */
async function startFloor(kind, where) {
  const { process: child, firstLine } = await startChild('receive-floor.js', [kind, where, SECRET]);
  return measured({ child, port: Number(firstLine.split(' ').at(-1)) });
}

/** @param {{ child: ChildProcess, port: number }} server */
function measured({ child, port }) {
  return { child, port, rates: numbers(), latencies: numbers(), cpu: numbers(), accepted: 0, refused: 0 };
}

/** @returns {number[]} */
function numbers() {
  return [];
}

/** @param {Servers} servers */
async function compareThroughput(servers) {
  for (const server of Object.values(servers)) await closedLoop(server, 1000, false);
  for (let round = 0; round < rounds; round += 1) {
    for (const server of Object.values(servers)) await closedLoop(server, seconds * 1000, true);
  }
  console.log(
    `${CONNECTIONS} connections, ${rounds} alternating rounds of ${seconds} s, every body different`,
  );
  for (const name of SIDES) {
    const server = servers[name];
    const sorted = server.latencies.toSorted((left, right) => left - right);
    console.log(
      `${TITLES[name].padEnd(46)} ${median(server.rates).toFixed(0).padStart(6)}/s` +
        `  p50 ${percentile(sorted, 0.5).toFixed(1)} ms  p99 ${percentile(sorted, 0.99).toFixed(1)} ms` +
        `  peak RSS ${peakMegabytes(server.child.pid).toFixed(0)} MB  CPU ${median(server.cpu).toFixed(0)} µs a request  rounds ${server.rates.map(rate => rate.toFixed(0)).join(' ')}`,
    );
  }
  /** @type {(other: Measured) => number} */
  const ratio = other => median(servers.ours.rates.map((rate, index) => rate / (other.rates[index] ?? NaN)));
  demand('(a) / (b)', ratio(servers.bare), 'times', { atLeast: BOUNDS[engine].bare });
  demand('(a) / (c)', ratio(servers.insert), 'times', { atLeast: BOUNDS[engine].insert });
}

/**
 * Closed loop: each connection sends its next delivery when the last was answered.
 * @param {Measured} server
 * @param {number} durationMs
 * @param {boolean} counted
 */
async function closedLoop(server, durationMs, counted) {
  const deliveries = signed(Math.ceil((durationMs / 1000) * 12_000));
  let next = 0;
  /** @type {number[]} */
  const latencies = [];
  const cpuBefore = cpuMicroseconds(server.child);
  const deadline = performance.now() + durationMs;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = openConnection(server.port);
      for (
        let delivery = deliveries[next++];
        delivery !== undefined && performance.now() < deadline;
        delivery = deliveries[next++]
      ) {
        const sent = performance.now();
        count(server, await connection.send(delivery.bytes));
        latencies.push(performance.now() - sent);
      }
      connection.close();
    }),
  );
  if (!counted) return;
  server.rates.push(latencies.length / ((performance.now() - begun) / 1000));
  server.latencies.push(...latencies);
  server.cpu.push((cpuMicroseconds(server.child) - cpuBefore) / latencies.length);
}

/**
 * Open loop: deliveries are sent on time whether or not earlier ones were answered. Latency counts from when they were due.
 * @param {Measured} server
 * @param {string} title
 * @param {number} [lasting]
 */
async function openLoop(server, title, lasting = openLoopSeconds) {
  const total = OPEN_LOOP_PER_SECOND * lasting;
  const deliveries = signed(total);
  /** @type {LoadConnection[]} */
  const idle = [];
  /** @type {number[]} */
  const latencies = [];
  const refusedBefore = server.refused;
  /** @type {Promise<void>[]} */
  const pending = [];
  const begun = performance.now();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * OPEN_LOOP_PER_SECOND));
    for (const { bytes } of deliveries.slice(sent, due))
      pending.push(deliver(bytes, begun + (sent++ * 1000) / OPEN_LOOP_PER_SECOND));
    await new Promise(resolve => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  const sorted = latencies.toSorted((left, right) => left - right);
  console.log(
    `${title}: refused ${server.refused - refusedBefore}, p50 ${percentile(sorted, 0.5).toFixed(1)} ms, ` +
      `p99 ${percentile(sorted, 0.99).toFixed(1)} ms, max ${percentile(sorted, 1).toFixed(1)} ms`,
  );
  for (const connection of idle) connection.close();

  /**
   * @param {Buffer} bytes
   * @param {number} dueAt
   */
  async function deliver(bytes, dueAt) {
    let connection = idle.pop() ?? openConnection(server.port);
    let status = await connection.send(bytes);
    if (status === 0) {
      // The server closes connections that were idle for some seconds. The delivery is then sent again on a new one.
      connection = openConnection(server.port);
      status = await connection.send(bytes);
    }
    count(server, status);
    latencies.push(performance.now() - dueAt);
    idle.push(connection);
  }
}

/**
 * @param {Measured} server
 * @param {number} status
 */
function count(server, status) {
  if (status === 202) server.accepted += 1;
  else server.refused += 1;
}

/** @param {string} folder */
function storedInFile(folder) {
  const db = new Database(join(folder, 'inbox.db'), { readonly: true });
  try {
    return Number(db.prepare('SELECT count(*) FROM deliveries').pluck().get());
  } finally {
    db.close();
  }
}

/** @param {string} url */
async function storedOnServer(url) {
  const { rows } = await withConnection(url, client =>
    client.query('SELECT count(*) AS stored FROM inbox.deliveries'),
  );
  return Number(rows[0].stored);
}

/**
 * @param {Measured} server
 * @param {number} stored
 */
function report(server, stored) {
  console.log(`(a) answered 202: ${server.accepted}, stored: ${stored}`);
  demand('(a) answered 202 and not stored', Math.max(0, server.accepted - stored), 'deliveries', {
    atMost: 0,
  });
  demand('(a) refused', server.refused, 'deliveries', { atMost: 0 });
}

/**
 * Returns the user and system time of all threads, in ticks of 10 ms.
 * @param {ChildProcess} child
 */
function cpuMicroseconds(child) {
  const [, afterName = ''] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ');
  const fields = afterName.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
