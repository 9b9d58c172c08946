// npm run torture -- fleet [WEBHOOKS] [MINUTES] | smallest: three receivers and three workers share one PostgreSQL behind PgBouncer,
// while processes are killed, the server crashes and connections are cut. At the end, every webhook that was answered 202 must be
// stored, a read must have followed every accepted one, every event must be delivered in order and with one body, and the mirror
// must equal the registry. The usual size is 200,000 webhooks in 15 minutes and needs PgBouncer. The smallest size runs without
// PgBouncer if it is not installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { MAIN, withFolder } from '../bench/parts/children.js';
import { withConnection, freshDatabase } from '../bench/parts/engine.js';
import { install, portOf, send, startRegistry } from '../bench/parts/registry.js';
import { startServer } from '../postgres/server.js';
import { countFaults, countMissing, listExpected, readReceived } from './events-received.js';
import { hasPgBouncer, startDatabase } from './fleet-database.js';
import { readSizes } from './read-sizes.js';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Installed } from '../bench/parts/registry.js' */
/** @typedef {Awaited<ReturnType<typeof startDatabase>>} Database */
/** @typedef {Awaited<ReturnType<typeof install>>} App */
/** @typedef {ReturnType<typeof supervise>} Member */
/** @typedef {Record<string, string | undefined>} Environment */

const [WEBHOOKS = 0, MINUTES = 0] = readSizes(['200000', '15'], ['1500', '0.4']).map(Number);
const IS_SMALLEST = process.argv.includes('smallest');
const DURATION_MS = MINUTES * 60_000;
const RECEIVERS = 3;
const WORKERS = 3;
const CONNECTIONS = 24;
const ORGANIZATIONS = IS_SMALLEST ? 4 : 20;
const WORLD = { organizations: ORGANIZATIONS, credits: 10 * ORGANIZATIONS, retirements: 10 * ORGANIZATIONS };
const PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};
const SECRET = 'a-secret-of-the-fleet-test-only';
/** Generous, because it only ends a test that hangs. */
const HANGS_AFTER_MS = 900_000;
const POST_TIMEOUT_MS = 20_000;
/** The exit code of a process that could not use the database when it started. */
const DATABASE_UNUSABLE = 5;
const EVENTS_RECEIVER = fileURLToPath(new URL('events-receiver.js', import.meta.url));

/** Weights of the faults: a fault with twice the weight happens twice as often. */
const KILL_RECEIVER = 8;
const KILL_WORKER = 8;
const CUT_CONNECTIONS = 4;
const RESTART_POOLER = 1;
const CRASH_SERVER = 1;

/**
 * Selects the accepted deliveries that no read has followed. The read may be that of a later job of the same installation: with a fault
 * every few seconds, a job can end as failed after ten attempts.
 */
const UNREAD = `SELECT delivery.job_id, delivery.received_at
  FROM inbox.deliveries AS delivery
  LEFT JOIN inbox.jobs AS own ON own.id = delivery.job_id
  LEFT JOIN (SELECT dedupe_key, max(started_at) AS started_at FROM inbox.jobs
    WHERE state = 'done' AND outcome <> 'merged' GROUP BY dedupe_key) AS newest ON newest.dedupe_key = own.dedupe_key
  WHERE delivery.verdict = 'accepted' AND (newest.started_at IS NULL OR newest.started_at < delivery.received_at)`;

if (!IS_SMALLEST && !hasPgBouncer()) throw new Error('this size needs PgBouncer: install pgbouncer');
const postgres = await startServer([]);
try {
  await withFolder(torture);
} finally {
  await postgres.stop();
}

/** @param {string} folder */
async function torture(folder) {
  const { server } = postgres;
  if ('missing' in server) throw new Error(`this test needs PostgreSQL: ${server.missing}`);
  // PgBouncer runs as another user, who cannot read the folder of the test.
  const poolerFolder = mkdtempSync(join(tmpdir(), 'carbon-mirror-fleet-'));
  const directUrl = await freshDatabase(server);
  const database = await startDatabase(postgres, poolerFolder);
  const registry = await startRegistry({ folder: join(folder, 'registry'), seed: 1, world: WORLD });
  const app = await install(registry.url, { organizations: ORGANIZATIONS, permissions: PERMISSIONS });
  const name = new URL(directUrl).pathname;
  const direct = environmentOf(folder, app, directUrl);
  const pooled = environmentOf(folder, app, `postgres://postgres@127.0.0.1:${database.port}${name}`);
  /** @type {{ stop: () => Promise<void> }[]} */
  const started = [];
  try {
    const events = await startEvents(folder, direct);
    started.push(events);
    const ports = await Promise.all(Array.from({ length: RECEIVERS }, findFreePort));
    const receivers = ports.map(port => supervise('receive', { ...pooled, PORT: String(port) }));
    const workers = Array.from({ length: WORKERS }, () => supervise('work', pooled));
    started.push(...receivers, ...workers);
    const endsAt = performance.now() + DURATION_MS;
    const posted = { acknowledged: new Set(), refused: 0, unanswered: 0 };
    const stopped = { isStopped: false };
    const changing = changeRegistry(registry.url, app.installations, stopped);
    const harming = causeFaults(database, receivers, workers, stopped);
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    await Promise.all(Array.from({ length: CONNECTIONS }, () => post(ports, app, agent, posted, { endsAt })));
    stopped.isStopped = true;
    agent.destroy();
    const [changes, harms] = await Promise.all([changing, harming]);
    process.stdout.write(
      `${posted.acknowledged.size} webhooks answered 202, ${posted.refused} refused, ${posted.unanswered} without an answer; ` +
        `${changes} changes at the registry; ${JSON.stringify(harms)}; ${database.hasPooler ? 'behind PgBouncer' : 'without PgBouncer, which is not installed'}\n`,
    );
    await waitUntilIdle(directUrl);
    const faults = {
      ...(await countDeliveryFaults(directUrl, posted.acknowledged)),
      ...(await countEventFaults(folder, directUrl, events.file)),
      endedByThemselves: [...receivers, ...workers].reduce(
        (sum, { countOwnEnds }) => sum + countOwnEnds(),
        0,
      ),
    };
    await Promise.all([...receivers, ...workers].map(member => member.stop()));
    const verified = run(direct, ['verify', '--against-registry', '--json']);
    await events.stop();
    report({ ...faults, notVerified: verified.status }, posted.acknowledged.size, verified);
  } finally {
    await Promise.all(started.map(each => each.stop()));
    await database.stop();
    await registry.stop();
    rmSync(poolerFolder, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {App} app
 * @param {string} url
 * @returns {Environment}
 */
function environmentOf(folder, { url: registryUrl, appId, privateKey }, url) {
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { recursive: true });
  const keyFile = join(folder, 'app.pem');
  writeFileSync(keyFile, privateKey);
  return {
    PATH: process.env['PATH'],
    DATA_DIR: dataDir,
    MIRROR_DATABASE_URL: url,
    REGISTRY_BASE_URL: registryUrl,
    REGISTRY_APP_ID: appId,
    REGISTRY_PRIVATE_KEY_FILE: keyFile,
    REGISTRY_REQUESTS_PER_SECOND: '200',
    WEBHOOK_SECRETS: SECRET,
    EVENTS_KEY_FILE: join(folder, 'events.key'),
    OUTBOUND_ALLOW: 'loopback',
    OPERATIONS_PORT: '0',
    LOG_LEVEL: 'fatal',
  };
}

/**
 * Starts a subscriber of all events.
 * @param {string} folder
 * @param {Environment} env
 */
async function startEvents(folder, env) {
  const file = join(folder, 'received');
  const child = spawn(process.execPath, [EVENTS_RECEIVER, '0', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${String(line).trim()}/`;
  const added = run(env, ['subscriptions', 'add', url, '--events', 'all', '--from', 'beginning']);
  if (added.status !== 0) throw new Error(`subscriptions add ended with ${added.status}: ${added.stderr}`);
  return { file, stop: () => kill(child) };
}

/** Returns a port that is free now. A receiver that was killed must find its port again, so it is chosen once. */
async function findFreePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = portOf(server);
  await new Promise(resolve => server.close(resolve));
  return port;
}

/**
 * Runs a process of the fleet, and starts it again when it ends. Counts how often it ended without having been killed, unless it
 * could not start because the database was down.
 * @param {'receive' | 'work'} command
 * @param {Environment} env
 */
function supervise(command, env) {
  let ownEnds = 0;
  let isStopped = false;
  /** @type {ChildProcess | null} */
  let victim = null;
  let child = start();
  function start() {
    const started = spawn(process.execPath, [MAIN, command], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    started.once('exit', code => {
      if (isStopped) return;
      if (started !== victim && code !== DATABASE_UNUSABLE) {
        ownEnds += 1;
        process.stdout.write(`${command} ended by itself with ${code}\n`);
      }
      child = start();
    });
    return started;
  }
  return {
    countOwnEnds: () => ownEnds,
    kill: async () => {
      victim = child;
      await kill(victim);
    },
    stop: async () => {
      isStopped = true;
      await kill(child);
    },
  };
}

/** @param {ChildProcess} child */
async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/**
 * Posts webhooks, evenly over the whole time, until enough are acknowledged and the time is over.
 * @param {readonly number[]} ports
 * @param {App} app
 * @param {Agent} agent
 * @param {{ acknowledged: Set<unknown>, refused: number, unanswered: number }} posted
 * @param {{ endsAt: number }} plan
 */
async function post(ports, { appId, installations }, agent, posted, { endsAt }) {
  const everyMs = (DURATION_MS * CONNECTIONS) / WEBHOOKS;
  const hangsAt = endsAt + HANGS_AFTER_MS;
  let nextAt = performance.now() + Math.random() * everyMs;
  while (posted.acknowledged.size < WEBHOOKS || performance.now() < endsAt) {
    if (performance.now() > hangsAt) throw new Error(`only ${posted.acknowledged.size} webhooks were stored`);
    await sleep(Math.max(0, nextAt - performance.now()));
    // If posting is behind schedule, it catches up without pauses.
    nextAt = performance.now() < endsAt ? nextAt + everyMs : performance.now();
    const { installationId, organizationId } = choose(installations);
    const payload = {
      event: 'warehouseTransaction',
      installation: { id: installationId, appId, organization: { id: organizationId } },
    };
    const signed = JSON.stringify({ ...payload, nonce: Math.random() });
    const signedData = Buffer.from(signed).toString('base64');
    const status = await postOnce(choose(ports), agent, JSON.stringify({ ...payload, signedData }), {
      'x-registry-signature-256': `sha256=${createHmac('sha256', SECRET).update(signedData).digest('hex')}`,
    });
    if (status === 202) posted.acknowledged.add(hashOf(signedData));
    else if (status === null) posted.unanswered += 1;
    else posted.refused += 1;
  }
}

/** @param {string} signedData */
function hashOf(signedData) {
  return createHash('sha256').update(signedData).digest('base64');
}

/**
 * Returns the status of the answer; null if there was none.
 * @param {number} port
 * @param {Agent} agent
 * @param {string} body
 * @param {Record<string, string>} headers
 * @returns {Promise<number | null>}
 */
async function postOnce(port, agent, body, headers) {
  const all = { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return await new Promise(resolve => {
    const sent = request({ port, path: '/webhooks', method: 'POST', agent, headers: all }, response => {
      response.once('error', () => resolve(null)).once('end', () => resolve(response.statusCode ?? null));
      response.resume();
    });
    sent.setTimeout(POST_TIMEOUT_MS, () => sent.destroy());
    sent.once('error', () => resolve(null)).end(body);
  });
}

/**
 * Issues and retires credits at the registry until stopped. Returns the number of changes.
 * @param {string} url
 * @param {readonly Installed[]} installations
 * @param {{ isStopped: boolean }} stopped
 */
async function changeRegistry(url, installations, stopped) {
  const { projects } = await send(`${url}/_sandbox/projects`);
  let changes = 0;
  while (!stopped.isStopped) {
    const { organizationId } = choose(installations);
    const place = choose(['warehouse', 'inventory']);
    const body = { organizationId, projectId: choose(projects).id, vintage: '2022', place, amount: 2 };
    const { id: creditId } = await send(`${url}/_sandbox/credits`, body);
    if (place === 'inventory' && creditId !== undefined)
      await send(`${url}/_sandbox/organizations/${organizationId}/retire-off-platform`, {
        creditId,
        amount: 1,
      });
    changes += 1;
    await sleep(100 + Math.random() * 400);
  }
  return changes;
}

/**
 * Causes faults until stopped. Returns how many of each.
 * @param {Database} database
 * @param {readonly Member[]} receivers
 * @param {readonly Member[]} workers
 * @param {{ isStopped: boolean }} stopped
 */
async function causeFaults(database, receivers, workers, stopped) {
  const faults = [
    { name: 'receivers killed', weight: KILL_RECEIVER, cause: () => choose(receivers).kill() },
    { name: 'workers killed', weight: KILL_WORKER, cause: () => choose(workers).kill() },
    { name: 'connections cut', weight: CUT_CONNECTIONS, cause: async () => database.cutConnections() },
    { name: 'poolers restarted', weight: RESTART_POOLER, cause: () => database.restartPooler() },
    { name: 'server crashes', weight: CRASH_SERVER, cause: () => database.crash() },
  ];
  const cases = faults.flatMap(fault => Array.from({ length: fault.weight }, () => fault));
  /** @type {Record<string, number>} */
  const counts = {};
  // Each fault happens at least once.
  const queue = [...faults];
  while (!stopped.isStopped) {
    await sleep(1_000 + Math.random() * 3_000);
    const { name, cause } = queue.shift() ?? choose(cases);
    await cause();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/**
 * Waits until no job that reads an installation is waiting or running.
 * @param {string} url
 */
async function waitUntilIdle(url) {
  const startedAt = performance.now();
  for (;;) {
    const [row] = await read(
      url,
      "SELECT count(*)::int AS jobs FROM inbox.jobs WHERE kind = 'installation' AND state IN ('waiting', 'running')",
    );
    if (row?.['jobs'] === 0) return;
    if (performance.now() - startedAt > HANGS_AFTER_MS)
      throw new Error(`${Number(row?.['jobs'])} jobs did not end`);
    await sleep(1_000);
  }
}

/**
 * Counts webhooks that were acknowledged and are not stored, and accepted ones that no read has followed.
 * @param {string} url
 * @param {ReadonlySet<unknown>} acknowledged
 */
async function countDeliveryFaults(url, acknowledged) {
  const stored = new Set();
  const rows = await read(url, 'SELECT signed_text_sha256 AS hash FROM inbox.deliveries');
  for (const { hash } of rows) stored.add(Buffer.from(String(hash), 'hex').toString('base64'));
  const [unread] = await read(url, `SELECT count(*)::int AS count FROM (${UNREAD}) AS unread`);
  const [failed] = await read(url, "SELECT count(*)::int AS jobs FROM inbox.jobs WHERE state = 'failed'");
  process.stdout.write(`${Number(failed?.['jobs'])} jobs failed after ten attempts\n`);
  if (unread?.['count'] !== 0) await printUnread(url);
  const lost = [...acknowledged].filter(hash => !stored.has(hash)).length;
  return { lost, unread: Number(unread?.['count']) };
}

/**
 * Prints the jobs of the deliveries that no read has followed.
 * @param {string} url
 */
async function printUnread(url) {
  const rows = await read(
    url,
    `SELECT job.*, count(*)::int AS deliveries, max(unread.received_at) AS newest_delivery
     FROM (${UNREAD}) AS unread LEFT JOIN inbox.jobs AS job ON job.id = unread.job_id GROUP BY job.id`,
  );
  for (const row of rows) process.stdout.write(`unread: ${JSON.stringify(row)}\n`);
}

/**
 * @param {string} folder
 * @param {string} url
 * @param {string} file
 */
async function countEventFaults(folder, url, file) {
  const database = { url, queryUrl: null, pool: null };
  const engine = openEngine({ dataDir: join(folder, 'data'), diskReserveMb: 0, database });
  const expected = await listExpected(engine);
  const startedAt = performance.now();
  while (countMissing(expected, readReceived(file)) > 0) {
    if (performance.now() - startedAt > HANGS_AFTER_MS) break;
    await sleep(500);
  }
  const received = readReceived(file);
  const { missing, late, twoBodies, repeated, erased } = countFaults(expected, received);
  process.stdout.write(
    `${expected.size} changes with events, ${received.length} requests, ${repeated} repeated\n`,
  );
  if (expected.size === 0) throw new Error('expected changes with events, found none');
  // Nobody is forgotten in this test, so no event may be sent as erased.
  return {
    eventsMissing: missing,
    eventsOutOfOrder: late,
    eventsWithTwoBodies: twoBodies,
    eventsErased: erased,
  };
}

/**
 * @param {Record<string, number | null>} faults
 * @param {number} acknowledged
 * @param {{ stdout: string, stderr: string }} verified
 */
function report(faults, acknowledged, verified) {
  process.stdout.write(`${JSON.stringify(faults)}\n`);
  if (faults['notVerified'] !== 0)
    process.stdout.write(`${verified.stdout.slice(0, 5_000)}${verified.stderr}\n`);
  const passed = acknowledged >= WEBHOOKS && Object.values(faults).every(count => count === 0);
  process.stdout.write(passed ? 'passed\n' : 'FAILED\n');
  process.exitCode = passed ? 0 : 1;
}

/**
 * @param {string} url
 * @param {string} sql
 * @returns {Promise<Record<string, unknown>[]>}
 */
async function read(url, sql) {
  return await withConnection(url, async client => (await client.query(sql)).rows);
}

/**
 * @param {Environment} env
 * @param {readonly string[]} argv
 */
function run(env, argv) {
  const options = /** @type {const} */ ({ env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return spawnSync(process.execPath, [MAIN, ...argv], options);
}

/**
 * @template Item
 * @param {readonly Item[]} items
 * @returns {Item}
 */
function choose(items) {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('expected at least one item');
  return item;
}
