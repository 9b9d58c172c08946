// npm run bench -- events [latency|first ...]: measures events. Runs both parts, or the named ones.
//   latency: from a delivery's 202 to the changed row in another process, and to the event at a subscriber
//   first: 10,000 events of a first sync (EVENTS sets another number), and how much processor time they take from the receiver
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../dist/src/store/sqlite/driver.js';
import { MAIN, start, withFolder } from './parts/children.js';
import { post, startReceiver, until } from './parts/deliveries.js';
import { createFigures, processorMs } from './parts/figures.js';
import { install, portOf, send, startRegistry } from './parts/registry.js';
import { chooseSize } from './parts/size.js';

/** @import { Access, Installed } from './parts/registry.js' */
/** @typedef {Access & { installations: readonly [Installed, ...Installed[]], projectId: string }} World */
/** @typedef {{ type: string, data: { organization_id?: string } }} Event */

const SAMPLES = chooseSize({ usual: 120, smallest: 3 });
const EVENTS = chooseSize({ name: 'EVENTS', usual: 10_000, smallest: 200 });
const WEBHOOKS = chooseSize({ usual: 2_000, smallest: 20 });
const ROUNDS = chooseSize({ usual: 3, smallest: 1 });
const WEBHOOK_PAUSE_MS = 4;
const SECRET = 'a secret of the benchmark';
const PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};
const PARTS = { latency: measureLatency, first: measureFirst };
const named = process.argv.slice(3).filter(word => word !== 'smallest');
const { show, demand, compare, end } = createFigures();

await withFolder(async folder => {
  for (const [name, measure] of Object.entries(PARTS)) {
    if (named.length > 0 && !named.includes(name)) continue;
    process.stdout.write(`\n${name}\n`);
    await measure(join(folder, name));
  }
});
end();

/** @param {string} folder */
async function measureLatency(folder) {
  const world = await openWorld(folder, { organizations: 12, retirements: 120, credits: 600 });
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const subscriber = await startSubscriber();
  const env = createEnvironment(world, folder, dataDir);
  subscribe(env, subscriber.url, 'credit.changed');
  const worker = startWorker(env);
  const receiver = await startReceiver(world, dataDir, SECRET);
  const mirror = new Database(join(dataDir, 'mirror.db'), { readonly: true });
  for (const installed of world.installations) await post(receiver.url, SECRET, world, installed);
  const count = mirror
    .prepare("SELECT count(*) FROM freshness WHERE resource = 'projects' AND as_of IS NOT NULL")
    .pluck();
  await until(() => count.get() === world.installations.length);
  const warehouse = mirror
    .prepare('SELECT sum(amount_micro) FROM warehouse_credits WHERE organization_id = ?')
    .pluck();
  await sleep(2_500);
  /** @type {number[]} */
  const toRow = [];
  /** @type {number[]} */
  const toEvent = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const installed = world.installations[sample % world.installations.length] ?? world.installations[0];
    const { organizationId } = installed;
    const before = warehouse.get(organizationId);
    const arrived = subscriber.next(organizationId);
    const body = {
      organizationId,
      projectId: world.projectId,
      place: 'warehouse',
      amount: 1,
      vintage: '2023',
    };
    await send(`${world.url}/_sandbox/credits`, body);
    await post(receiver.url, SECRET, world, installed);
    const answeredAt = performance.now();
    await until(() => warehouse.get(organizationId) !== before);
    toRow.push(performance.now() - answeredAt);
    toEvent.push((await arrived) - answeredAt);
    await sleep(100);
  }
  mirror.close();
  const row = "from a delivery's 202 to the changed row in another process";
  const event = "from a delivery's 202 to the event at a subscriber";
  show(`${row}: p50`, at(toRow, 0.5), 'ms');
  show(`${row}: p99`, at(toRow, 0.99), 'ms');
  demand(`${event}: p50`, at(toEvent, 0.5), 'ms', { under: 150 });
  demand(`${event}: p99`, at(toEvent, 0.99), 'ms', { under: 1_500 });
  for (const child of [worker, receiver.child]) child.kill('SIGTERM');
  subscriber.close();
  await world.stop();
}

/** @param {string} folder */
async function measureFirst(folder) {
  const world = await openWorld(folder, { organizations: 1, retirements: EVENTS, credits: 60 });
  /** @type {{ floor: number[], ours: number[] }} */
  const processor = { floor: [], ours: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const side of /** @type {const} */ (['floor', 'ours'])) {
      const taken = await firstSync(world, folder, side === 'ours');
      processor[side].push(taken.receiverMs);
      if (side === 'floor') continue;
      show('events of a first sync', taken.events, 'events');
      show('time from the first webhook to the last event', taken.seconds, 's');
      show('processor time of the worker with them', taken.workerMs / 1_000, 's');
    }
  compare(
    `processor time of the receiver for ${WEBHOOKS} webhooks while events are sent, against without`,
    processor,
    { atMost: 1.1 },
  );
  await world.stop();
}

/**
 * Reads the installation for the first time while webhooks arrive. Returns the processor time of receiver and worker.
 * @param {World} world
 * @param {string} folder
 * @param {boolean} isSubscribed
 */
async function firstSync(world, folder, isSubscribed) {
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const subscriber = await startSubscriber();
  const env = createEnvironment(world, folder, dataDir);
  if (isSubscribed) subscribe(env, subscriber.url, 'retirement.created');
  const receiver = await startReceiver(world, dataDir, SECRET);
  const worker = startWorker(env);
  const [installed] = world.installations;
  const receiverPid = receiver.child.pid ?? 0;
  const before = processorMs(receiverPid);
  const startedAt = performance.now();
  for (let webhook = 0; webhook < WEBHOOKS; webhook += 1) {
    await post(receiver.url, SECRET, world, installed);
    await sleep(WEBHOOK_PAUSE_MS);
  }
  const receiverMs = processorMs(receiverPid) - before;
  await until(() => subscriber.count() >= (isSubscribed ? EVENTS : 0));
  const seconds = (performance.now() - startedAt) / 1_000;
  const workerMs = processorMs(worker.pid ?? 0);
  const exits = [worker, receiver.child].map(child => once(child, 'exit'));
  for (const child of [worker, receiver.child]) child.kill('SIGTERM');
  await Promise.all(exits);
  subscriber.close();
  return { receiverMs, workerMs, seconds, events: subscriber.count() };
}

/**
 * @param {string} folder
 * @param {{ organizations: number, retirements: number, credits: number }} options
 */
async function openWorld(folder, options) {
  mkdirSync(folder);
  const registry = await startRegistry({ folder, seed: 1, world: options });
  const { organizations } = options;
  const installed = await install(registry.url, { organizations, permissions: PERMISSIONS });
  const { projects } = await send(`${registry.url}/_sandbox/projects`);
  return { ...installed, projectId: projects[0].id, stop: registry.stop };
}

/**
 * @param {Access} world
 * @param {string} folder
 * @param {string} dataDir
 */
function createEnvironment({ url, appId, privateKey }, folder, dataDir) {
  const keyFile = join(folder, 'app.pem');
  writeFileSync(keyFile, privateKey);
  return {
    PATH: process.env['PATH'],
    DATA_DIR: dataDir,
    REGISTRY_BASE_URL: url,
    REGISTRY_APP_ID: appId,
    REGISTRY_PRIVATE_KEY_FILE: keyFile,
    REGISTRY_REQUESTS_PER_SECOND: '10000',
    REGISTRY_BURST: '10000',
    OPERATIONS_PORT: '0',
    SYNC_SCHEDULE: '0 0 1 1 *',
    EVENTS_KEY_FILE: join(dataDir, '..', 'events.key'),
    OUTBOUND_ALLOW: 'loopback',
    LOG_LEVEL: 'error',
  };
}

/** @param {Record<string, string | undefined>} env */
function startWorker(env) {
  return start([MAIN, 'work'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {string} url
 * @param {string} types
 */
function subscribe(env, url, types) {
  for (const argv of [['migrate'], ['subscriptions', 'add', url, '--events', types]]) {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...argv], { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
  }
}

/** Starts a subscriber that answers at once. */
async function startSubscriber() {
  let received = 0;
  /** @type {{ organizationId: string, resolve: (at: number) => void }[]} */
  const waiting = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', part => {
      body += part;
    });
    request.on('end', () => {
      const arrivedAt = performance.now();
      received += 1;
      response.writeHead(204).end();
      /** @type {Event} */
      const { data } = JSON.parse(body);
      const index = waiting.findIndex(({ organizationId }) => organizationId === data.organization_id);
      if (index >= 0) waiting.splice(index, 1)[0]?.resolve(arrivedAt);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}/`,
    count: () => received,
    /**
     * Returns when the next event of an organization arrives.
     * @param {string} organizationId
     * @returns {Promise<number>}
     */
    next: organizationId => new Promise(resolve => waiting.push({ organizationId, resolve })),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * @param {readonly number[]} values
 * @param {number} part
 */
function at(values, part) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}
