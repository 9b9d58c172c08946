// How fast the door is: our receiver beside two floors that import nothing of ours but the driver, alternating in one run.
//   npm run bench -- receive [rounds] [seconds]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Database } from '../../dist/engines/sqlite/driver.js';
import { startReceiver } from '../support/receiver-child.js';
import { openConnection, percentile, prepareDeliveries } from '../support/load.js';

const CONNECTIONS = 64;
const OPEN_LOOP_PER_SECOND = 500;
const SECRET = 'a-secret-of-the-benchmark';
const APP_ID = 'app-of-the-benchmark';
const INSTALLATIONS = Array.from({ length: 200 }, (_, index) => ({
  id: `installation-${index}`,
  organizationId: `organization-${index}`,
}));

const [rounds = 5, seconds = 4, openLoopSeconds = 30] = process.argv.slice(3).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-bench-'));
const signed = amount =>
  prepareDeliveries(amount, { appId: APP_ID, secret: SECRET, installations: INSTALLATIONS });

const OURS = '(a) our receiver, stored and flushed';
const BARE = '(b) Express, parse and HMAC, nothing stored';
const INSERT = '(c) Express, one flushed insert a request';

const children = [];
try {
  const servers = new Map([
    [OURS, measured(await startReceiver(folder, { appId: APP_ID, secret: SECRET }))],
    [BARE, await startFloor('bare')],
    [INSERT, await startFloor('insert')],
  ]);
  await compareThroughput(servers);
  await openLoop(servers.get(OURS), `${OPEN_LOOP_PER_SECOND}/s for ${openLoopSeconds} s, open loop`);
  const writer = spawn(process.execPath, [file('receive-neighbour.js'), folder]);
  children.push(writer);
  await new Promise(resolve => writer.stdout.once('data', resolve));
  await openLoop(servers.get(OURS), 'the same beside a process that writes the mirror without pause');
  writer.kill();
  report(servers.get(OURS));
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}

function file(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

async function startFloor(kind) {
  const child = spawn(process.execPath, [file('receive-floor.js'), kind, folder, SECRET], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  return measured({ child, port: Number(String(line).split(' ').at(-1)) });
}

function measured({ child, port }) {
  children.push(child);
  return { child, port, rates: [], latencies: [], cpu: [], accepted: 0, refused: 0 };
}

async function compareThroughput(servers) {
  for (const server of servers.values()) await closedLoop(server, 1000, false);
  for (let round = 0; round < rounds; round += 1) {
    for (const server of servers.values()) await closedLoop(server, seconds * 1000, true);
  }
  const bare = servers.get(BARE);
  const insert = servers.get(INSERT);
  console.log(
    `${CONNECTIONS} connections, ${rounds} alternating rounds of ${seconds} s, every body different`,
  );
  for (const [name, server] of servers) {
    const sorted = server.latencies.toSorted((left, right) => left - right);
    console.log(
      `${name.padEnd(46)} ${median(server.rates).toFixed(0).padStart(6)}/s` +
        `  p50 ${percentile(sorted, 0.5).toFixed(1)} ms  p99 ${percentile(sorted, 0.99).toFixed(1)} ms` +
        `  peak RSS ${peakMegabytes(server.child)} MB  CPU ${median(server.cpu).toFixed(0)} µs a request  rounds ${server.rates.map(rate => rate.toFixed(0)).join(' ')}`,
    );
  }
  const ratio = other =>
    median(servers.get(OURS).rates.map((rate, index) => rate / other.rates[index])).toFixed(2);
  console.log(`(a) / (b) = ${ratio(bare)}  (at least 0.85)   (a) / (c) = ${ratio(insert)}  (at least 1.5)`);
}

/** Each connection sends its next delivery when the last was answered. */
async function closedLoop(server, durationMs, counted) {
  const deliveries = signed(Math.ceil((durationMs / 1000) * 12_000));
  let next = 0;
  const latencies = [];
  const cpuBefore = cpuMicroseconds(server.child);
  const end = performance.now() + durationMs;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = openConnection(server.port);
      while (performance.now() < end && next < deliveries.length) {
        const { bytes } = deliveries[next];
        next += 1;
        const sent = performance.now();
        count(server, await connection.send(bytes));
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

/** Deliveries leave on time whether or not earlier ones were answered; latency counts from when they were due. */
async function openLoop(server, title) {
  const total = OPEN_LOOP_PER_SECOND * openLoopSeconds;
  const deliveries = signed(total);
  const idle = [];
  const latencies = [];
  const refusedBefore = server.refused;
  const pending = [];
  const begun = performance.now();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * OPEN_LOOP_PER_SECOND));
    for (; sent < due; sent += 1)
      pending.push(deliver(deliveries[sent].bytes, begun + (sent * 1000) / OPEN_LOOP_PER_SECOND));
    await new Promise(resolve => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  const sorted = latencies.toSorted((left, right) => left - right);
  console.log(
    `${title}: refused ${server.refused - refusedBefore}, p50 ${percentile(sorted, 0.5).toFixed(1)} ms, ` +
      `p99 ${percentile(sorted, 0.99).toFixed(1)} ms, max ${percentile(sorted, 1).toFixed(1)} ms`,
  );
  for (const connection of idle) connection.close();

  async function deliver(bytes, dueAt) {
    let connection = idle.pop() ?? openConnection(server.port);
    let status = await connection.send(bytes);
    if (status === 0) {
      // The server closes connections that were idle for some seconds; every client sends again on a new one.
      connection = openConnection(server.port);
      status = await connection.send(bytes);
    }
    count(server, status);
    latencies.push(performance.now() - dueAt);
    idle.push(connection);
  }
}

function count(server, status) {
  if (status === 202) server.accepted += 1;
  else server.refused += 1;
}

function report(server) {
  const db = new Database(join(folder, 'inbox.db'), { readonly: true });
  const stored = Number(db.prepare('SELECT count(*) FROM deliveries').pluck().get());
  db.close();
  const lost = server.accepted - stored;
  console.log(
    `(a) answered 202: ${server.accepted}, stored: ${stored}, lost: ${Math.max(0, lost)}, refused: ${server.refused}`,
  );
  if (lost > 0 || server.refused > 0) process.exitCode = 1;
}

function median(values) {
  return percentile(
    values.toSorted((left, right) => left - right),
    0.5,
  );
}

/** User and system time of all threads, in ticks of 10 ms. */
function cpuMicroseconds(child) {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function peakMegabytes(child) {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
