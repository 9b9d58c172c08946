// npm run bench -- fleet: a worker reads 1,000 installations (ORGANIZATIONS sets another number) of a sandbox, with the default limit of
// calls per second (CALLS sets another one). Measures a full and an unchanged round, checks the sums as of five instants of the first
// round, and measures the commands that people wait for.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine } from '../../dist/src/store/open.js';
import { Database } from '../../dist/src/store/sqlite/driver.js';
import { readAvailable } from '../../dist/src/query/available.js';
import { enqueueTick } from '../../dist/src/sync/schedule/schedule.js';
import { MAIN, start, withFolder } from './parts/children.js';
import { createFigures, median, peakMegabytes, processorMs, timed } from './parts/figures.js';
import { install, mint, send, startRegistry } from './parts/registry.js';
import { chooseSize } from './parts/size.js';
import { FIRST_PAGE, openConsole } from './parts/visitor.js';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Reader } from '../../dist/src/store/contract/reader.js' */
/** @import { Access, Installed } from './parts/registry.js' */
/** @typedef {Awaited<ReturnType<typeof openWorld>>} World */
/** @typedef {import('better-sqlite3').Statement<[], { n: number }>} Count */

const ORGANIZATIONS = chooseSize({ name: 'ORGANIZATIONS', usual: 1_000, smallest: 5 });
const { CALLS } = process.env;
const WORLD = {
  organizations: ORGANIZATIONS,
  credits: chooseSize({ usual: 600, smallest: 20 }),
  retirements: 2 * ORGANIZATIONS,
};
/** The generated world gives credits to few organizations, so each one gets four more. */
const VINTAGES = ['2019', '2020', '2021', '2022'];
const PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};
/** The checked instants, as shares of the lists of credits that have been read by then. */
const INSTANTS = [0, 0.2, 0.4, 0.6, 0.8];
const TIMES = chooseSize({ usual: 100, smallest: 1 });
const COMMANDS = chooseSize({ usual: 5, smallest: 1 });
const QUIET_CALLS = { atMost: 4 };
const NONE = { atMost: 0 };
const PAGE_BYTES = { atMost: 60_000 };
const PAGE_MS = { atMost: 100 };
/** A schedule that never starts a round by itself. */
const ONCE_A_YEAR = '0 0 1 1 *';

/** Why the benchmark must stop waiting; null while nothing has failed. */
/** @type {string | null} */
let gone = null;
const { show, demand, end } = createFigures();
await withFolder(async folder => {
  const world = await openWorld(join(folder, 'registry'));
  const dataDir = join(folder, 'data');
  const engine = openEngine({ dataDir, database: null, diskReserveMb: null });
  await engine.migrate(Date.now());
  const books = openBooks(dataDir);
  const worker = startWorker(world, dataDir);
  await measureRound('a full round', world, worker, async () => {
    await until(() => books.isListed());
    const reader = await engine.openReader();
    for (const share of INSTANTS) {
      await until(() => books.warehouses() >= share * ORGANIZATIONS);
      await checkCoverage(reader, world);
    }
    await reader.close();
    await until(() => books.warehouses() === ORGANIZATIONS);
    await books.idle();
  });
  await measureRound('a quiet round', world, worker, async () => {
    const inbox = await engine.openInbox(Date.now);
    await enqueueTick(inbox, Date.now(), Date.now());
    await inbox.close();
    await books.idle();
  });
  demand(
    'calls of a quiet round for each organization',
    (await world.calls()) / ORGANIZATIONS,
    '',
    QUIET_CALLS,
  );
  await measureNow(dataDir);
  await measureStatus(dataDir);
  books.close();
  await stop(worker);
  await world.registry.stop();
});
end();

/** @param {string} folder */
async function openWorld(folder) {
  mkdirSync(folder);
  const options = { folder, seed: 1, world: WORLD };
  const registry = await startRegistry(options);
  const { appId, privateKey, installations } = await install(registry.url, {
    organizations: ORGANIZATIONS,
    permissions: PERMISSIONS,
  });
  await giveCredits(registry.url, installations);
  /** @param {string} path */
  const control = path => send(`${registry.url}/_sandbox${path}`);
  // Reservations that expire meanwhile would return to warehouses that are read.
  const { reservations } = await control('/reservations?limit=10000');
  for (const { id } of reservations.filter(({ state }) => state === 'outstanding'))
    await send(`${registry.url}/_sandbox/reservations/${id}/expire`, {});
  const held = await readWarehouses({ url: registry.url, appId, privateKey }, installations);
  const newest = async () => (await control('/calls?limit=1')).calls[0].id;
  let before = await newest();
  return {
    registry,
    appId,
    privateKey,
    mark: async () => (before = await newest()),
    calls: async () => (await newest()) - before,
    installed: () => installations.length,
    tonnes: () => held,
  };
}

/**
 * Returns millionths of a tonne by organization.
 * @param {Access} access
 * @param {readonly Installed[]} installations
 */
async function readWarehouses(access, installations) {
  /** @type {Map<string, number>} */
  const held = new Map();
  for (const { installationId, organizationId } of installations) {
    const token = await mint(access, installationId);
    const path = `/organizations/${organizationId}/warehouse/inventory`;
    const { credits } = await send(`${access.url}${path}`, undefined, `Bearer ${token}`);
    const micro = credits.reduce((sum, { amount }) => sum + Math.round(amount * 1_000_000), 0);
    held.set(organizationId, micro);
  }
  return held;
}

/**
 * @param {string} url
 * @param {readonly Installed[]} installations
 */
async function giveCredits(url, installations) {
  const { projects } = await send(`${url}/_sandbox/projects`);
  for (const [index, { organizationId }] of installations.entries()) {
    for (const vintage of VINTAGES) {
      const projectId = projects[index % projects.length]?.id;
      const body = { organizationId, projectId, vintage, place: 'warehouse', amount: 1 + (index % 1000) };
      await send(`${url}/_sandbox/credits`, body);
    }
  }
}

/**
 * @param {World} world
 * @param {string} dataDir
 */
function startWorker({ registry, appId, privateKey }, dataDir) {
  const env = {
    DATA_DIR: dataDir,
    REGISTRY_BASE_URL: registry.url,
    REGISTRY_APP_ID: appId,
    REGISTRY_PRIVATE_KEY: privateKey,
    SYNC_SCHEDULE: ONCE_A_YEAR,
    OPERATIONS_PORT: '0',
    LOG_LEVEL: 'warn',
    ...(CALLS && { REGISTRY_REQUESTS_PER_SECOND: CALLS }),
  };
  const worker = start([MAIN, 'work'], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  worker.once('exit', (code, signal) => (gone = `the worker ended with ${code ?? signal}`));
  return worker;
}

/**
 * Opens the databases that the worker writes, with queries about its progress.
 * @param {string} dataDir
 */
function openBooks(dataDir) {
  const mirror = new Database(join(dataDir, 'mirror.db'), { readonly: true });
  const inbox = new Database(join(dataDir, 'inbox.db'), { readonly: true });
  /** @type {Count} */
  const listed = mirror.prepare('SELECT count(listed_at) AS n FROM origin');
  /** @type {Count} */
  const due = inbox.prepare(
    `SELECT count(*) AS n FROM jobs WHERE state = 'running'
       OR state = 'waiting' AND run_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
  );
  /** @type {Count} */
  const complete = mirror.prepare(
    "SELECT count(*) AS n FROM resource_states WHERE resource = 'warehouse' AND as_of IS NOT NULL",
  );
  return {
    isListed: () => (listed.get()?.n ?? 0) > 0,
    warehouses: () => complete.get()?.n ?? 0,
    idle: () => until(() => due.get()?.n === 0),
    close: () => {
      mirror.close();
      inbox.close();
    },
  };
}

/**
 * @param {string} name
 * @param {World} world
 * @param {ChildProcess} worker
 * @param {() => Promise<void>} work
 */
async function measureRound(name, world, worker, work) {
  await world.mark();
  process.stdout.write(`\n${name}\n`);
  show('seconds', (await timed(work)) / 1000, 's');
  show('calls', await world.calls(), 'calls');
  show('calls for each organization', (await world.calls()) / ORGANIZATIONS, 'calls');
  show('peak memory of the worker so far', peakMegabytes(worker.pid), 'MB');
}

/**
 * Checks that each installed organization is counted once: with its amount in the sandbox, or by name among those left out.
 * @param {Reader} reader
 * @param {World} world
 */
async function checkCoverage(reader, world) {
  const available = await readAvailable(reader, { organizationId: null });
  const held = world.tonnes();
  /** @type {Map<string, number>} */
  const sold = new Map();
  for (const { organization_id: id, amount_micro: micro } of available.rows)
    sold.set(id, (sold.get(id) ?? 0) + Number(micro));
  const left = new Set(available.leftOut.map(each => each.organization_id));
  const wrong = [...held.keys()].filter(id =>
    left.has(id) ? sold.has(id) : (sold.get(id) ?? 0) !== held.get(id),
  );
  show(`${ORGANIZATIONS - left.size} read, left out`, left.size, 'organizations');
  const gap = Math.abs(available.known - world.installed());
  demand('known more or less than are installed', gap, 'organizations', NONE);
  demand('organizations whose credits are not those of the registry', wrong.length, '', NONE);
}

/** @param {string} dataDir */
async function measureNow(dataDir) {
  const { pid, receive } = await openConsole(dataDir);
  process.stdout.write('\nNow\n');
  const parts = await Promise.all(FIRST_PAGE.map(receive));
  /** @type {Awaited<ReturnType<typeof receive>>[]} */
  const times = [];
  const before = processorMs(pid);
  for (let time = 0; time < TIMES; time++) times.push(await receive('/'));
  show('of a processor for each', (processorMs(pid) - before) / TIMES, 'ms');
  show('its markup, as it is received', times[0]?.bytes ?? NaN, 'bytes');
  demand(
    'with its style and script',
    parts.reduce((all, { bytes }) => all + bytes, 0),
    'bytes',
    PAGE_BYTES,
  );
  show('first byte, median', median(times.map(({ firstByteMs }) => firstByteMs)), 'ms');
  demand('all of it, median', median(times.map(({ ms }) => ms)), 'ms', PAGE_MS);
}

/** @param {string} dataDir */
async function measureStatus(dataDir) {
  process.stdout.write('\nstatus\n');
  const env = { DATA_DIR: dataDir };
  const run = () => execFileSync(process.execPath, [MAIN, 'status'], { env });
  /** @type {number[]} */
  const times = [];
  for (let time = 0; time < COMMANDS; time++) times.push(await timed(run));
  show('median, with the start of Node', median(times), 'ms');
  show('what it prints', run().length, 'bytes');
}

/** @param {ChildProcess} worker */
async function stop(worker) {
  const ended = once(worker, 'exit');
  worker.kill('SIGTERM');
  await ended;
}

/** @param {() => boolean} holds */
async function until(holds) {
  while (!holds()) {
    if (gone !== null) throw new Error(gone);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}
