// npm run bench -- fleet [--engine postgres]: a worker reads 1,000 installations of a sandbox, with the default limit of calls per second.
// Measures a full round and one without changes, checks the sums as of five instants of the first round, and measures the commands
// that people wait for.
//
//   ORGANIZATIONS=N   the size of the fleet
//   READ=N            how many organizations are read from the sandbox, at most 1,000 by default. The rows of all others are copied from
//                     those; then the commands, the queue of a round and the heartbeat are measured again
//   CALLS=N           the limit of calls per second
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createInstallationJob } from '../../dist/src/inbox/job.js';
import { createMirror } from '../../dist/src/mirror/create-mirror.js';
import { describeFirstReads, estimateFirstReads, readFirstReads } from '../../dist/src/query/first-reads.js';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { Database } from '../../dist/src/store/sqlite/driver.js';
import { readAvailable } from '../../dist/src/query/available.js';
import { recordUnreadDeliveries } from '../../dist/src/sync/schedule/unread-deliveries.js';
import { enqueueTick } from '../../dist/src/sync/schedule/tick-schedule.js';
import { MAIN, start, withFolder } from './parts/children.js';
import { copyOrganizations } from './parts/copied-organizations.js';
import { freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { createFigures, median, peakMegabytes, processorMs, timed } from './parts/figures.js';
import { install, mint, send, startRegistry } from './parts/registry.js';
import { chooseSize } from './parts/size.js';
import { FIRST_PAGE, openConsole } from './parts/visitor.js';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Reader } from '../../dist/src/store/contract/reader.js' */
/** @import { Engine } from '../../dist/src/store/engine.js' */
/** @import { Settings } from './parts/engine.js' */
/** @import { Access, Installed } from './parts/registry.js' */
/** @typedef {Awaited<ReturnType<typeof openWorld>>} World */
/** @typedef {Awaited<ReturnType<typeof openTables>>} Tables */

const ORGANIZATIONS = chooseSize({ name: 'ORGANIZATIONS', usual: 1_000, smallest: 5 });
const READ = Math.min(ORGANIZATIONS, chooseSize({ name: 'READ', usual: 1_000, smallest: 5 }));
const COPIES = Math.round(ORGANIZATIONS / READ) - 1;
const { CALLS } = process.env;
const WORLD = {
  organizations: READ,
  credits: chooseSize({ usual: 600, smallest: 20 }),
  retirements: 2 * READ,
};
/** The generated world gives credits to few organizations, so each one gets four more. */
const VINTAGES = ['2019', '2020', '2021', '2022'];
const PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};
/** The instants at which sums are checked, as shares of the warehouses that have been read by then. */
const INSTANTS = [0, 0.2, 0.4, 0.6, 0.8];
const TIMES = chooseSize({ usual: 100, smallest: 1 });
const COMMANDS = chooseSize({ usual: 5, smallest: 1 });
const QUIET_CALLS = { atMost: 4 };
const NONE = { atMost: 0 };
const PAGE_BYTES = { atMost: 60_000 };
const PAGE_MS = { atMost: 100 };
/** A schedule that never starts a round by itself. */
const ONCE_A_YEAR = '0 0 1 1 *';

const ENQUEUED_AT_ONCE = 100;
const CLAIMED_AT_ONCE = 4;
const LEASE_MS = 60_000;

/** Why the benchmark must stop waiting; null while nothing has failed. */
/** @type {string | null} */
let gone = null;
const { show, demand, end } = createFigures();
const { engine: name } = readArguments();
if (name === 'sqlite')
  await withFolder(folder => measure(folder, { dataDir: join(folder, 'data'), database: null }));
else
  await withPostgres(server =>
    withFolder(async folder => {
      const url = await freshDatabase(server);
      await measure(folder, { dataDir: join(folder, 'data'), database: { url, queryUrl: null, pool: null } });
    }),
  );
end();

/**
 * @param {string} folder
 * @param {Settings} settings
 */
async function measure(folder, settings) {
  const world = await openWorld(join(folder, 'registry'));
  const engine = openEngine({ ...settings, diskReserveMb: null });
  mkdirSync(settings.dataDir, { recursive: true });
  await engine.migrate(Date.now());
  const tables = await openTables(settings);
  const books = openProgress(tables);
  const worker = startWorker(world, settings);
  await measureRound('a full round', world, worker, async () => {
    await until(() => books.isListed());
    const reader = await engine.openReader();
    for (const share of INSTANTS) {
      await until(async () => (await books.warehouses()) >= share * READ);
      await showEstimate(reader);
      await checkCoverage(reader, world);
    }
    await reader.close();
    await until(async () => (await books.warehouses()) === READ);
    await books.idle();
  });
  await measureRound('a quiet round', world, worker, async () => {
    const inbox = await engine.openInbox(Date.now);
    await enqueueTick(inbox, Date.now(), Date.now());
    await inbox.close();
    await books.idle();
  });
  demand('calls of a quiet round for each organization', (await world.calls()) / READ, '', QUIET_CALLS);
  await stop(worker);
  await world.registry.stop();
  await measurePeople(settings, READ);
  await measureQueue(engine, READ, tables);
  if (COPIES > 0) {
    const mirrored = engine
      .describeSchema()
      .filter(({ database, kind }) => database === 'mirror' && kind === 'table');
    show('\ncopied in', (await timed(() => copyOrganizations(tables, mirrored, COPIES))) / 1000, 's');
    const faults = await engine.findConsistencyFaults(Date.now());
    if (faults.length > 0)
      throw new Error(`the copy is not consistent: ${JSON.stringify(faults.slice(0, 3))}`);
    await measurePeople(settings, ORGANIZATIONS);
    await measureQueue(engine, ORGANIZATIONS, tables);
  }
  await tables.close();
}

/**
 * Measures the commands and pages that people wait for.
 * @param {Settings} settings
 * @param {number} organizations
 */
async function measurePeople(settings, organizations) {
  process.stdout.write(`\nwith ${organizations.toLocaleString('en')} organizations, ${name}\n`);
  await measureNow(settings);
  await measureCommand(settings, 'status');
  await measureCommand(settings, 'available');
}

/**
 * Measures the jobs of a quiet round without its reads, and the heartbeat that a worker writes every 15 s.
 * @param {Engine} engine
 * @param {number} organizations
 * @param {Tables} tables
 */
async function measureQueue(engine, organizations, tables) {
  process.stdout.write('\nqueue of a round, without reads\n');
  const writers = await engine.openWriterStores(Date.now);
  const { inbox } = writers;
  const mirror = createMirror(writers.mirror, Date.now);
  const jobs = (await mirror.listInstallations()).map(({ id, organizationId }) =>
    createInstallationJob(id, organizationId, 'schedule'),
  );
  if (jobs.length !== organizations) throw new Error(`expected ${organizations} jobs, found ${jobs.length}`);
  await tables.run(`DELETE FROM ${tables.inbox}jobs WHERE state <> 'done'`);
  const enqueued = await timeWork(async () => {
    for (let first = 0; first < jobs.length; first += ENQUEUED_AT_ONCE)
      await inbox.enqueue(jobs.slice(first, first + ENQUEUED_AT_ONCE));
  });
  const ended = await timeWork(async () => {
    for (let count = 0; count < jobs.length; ) {
      const claimed = await inbox.claim({
        parts: [{ part: 'data', slots: CLAIMED_AT_ONCE }],
        leaseMs: LEASE_MS,
      });
      if (claimed.jobs.length === 0) await new Promise(resolve => setTimeout(resolve, 20));
      await inbox.settle(
        claimed.jobs.map(({ id, claim }) => ({ claim: { id, claim }, end: { act: 'unchanged' } })),
      );
      count += claimed.jobs.length;
    }
  });
  const facts = await timeWork(() =>
    recordUnreadDeliveries({ inbox, mirror, mirrorMembers: true }, Date.now()),
  );
  await writers.close();
  show('enqueued: processor time of a worker for each job', enqueued.processor / jobs.length, 'ms');
  show('enqueued: elapsed for each job', enqueued.elapsed / jobs.length, 'ms');
  show('claimed and settled: processor time of a worker for each job', ended.processor / jobs.length, 'ms');
  show('claimed and settled: elapsed for each job', ended.elapsed / jobs.length, 'ms');
  show('a heartbeat: processor time of a worker', facts.processor, 'ms');
  show('a heartbeat: elapsed', facts.elapsed, 'ms');
}

/**
 * Runs work, and returns the elapsed time and the processor time of this process, in milliseconds.
 * @param {() => Promise<unknown>} work
 */
async function timeWork(work) {
  const before = process.cpuUsage();
  const elapsed = await timed(work);
  const { user, system } = process.cpuUsage(before);
  return { elapsed, processor: (user + system) / 1000 };
}

/** @param {string} folder */
async function openWorld(folder) {
  mkdirSync(folder);
  const options = { folder, seed: 1, world: WORLD };
  const registry = await startRegistry(options);
  const { appId, privateKey, installations } = await install(registry.url, {
    organizations: READ,
    permissions: PERMISSIONS,
  });
  await giveCredits(registry.url, installations);
  /** @param {string} path */
  const control = path => send(`${registry.url}/_sandbox${path}`);
  // Reservations are ended now: one that expired later would change a warehouse while it is read.
  const { reservations } = await control('/reservations?limit=10000');
  for (const { id } of reservations.filter(({ state }) => state === 'outstanding'))
    await send(`${registry.url}/_sandbox/reservations/${id}/expire`, {});
  const warehouses = await readWarehouses({ url: registry.url, appId, privateKey }, installations);
  const newest = async () => (await control('/calls?limit=1')).calls[0].id;
  let before = await newest();
  return {
    registry,
    appId,
    privateKey,
    mark: async () => (before = await newest()),
    calls: async () => (await newest()) - before,
    installed: () => installations.length,
    tonnes: () => warehouses,
  };
}

/**
 * Returns the amount in the warehouse of each organization, in millionths of a tonne.
 * @param {Access} access
 * @param {readonly Installed[]} installations
 */
async function readWarehouses(access, installations) {
  /** @type {Map<string, number>} */
  const microTonnes = new Map();
  for (const { installationId, organizationId } of installations) {
    const token = await mint(access, installationId);
    const path = `/organizations/${organizationId}/warehouse/inventory`;
    const { credits } = await send(`${access.url}${path}`, undefined, `Bearer ${token}`);
    const micro = credits.reduce((sum, { amount }) => sum + Math.round(amount * 1_000_000), 0);
    microTonnes.set(organizationId, micro);
  }
  return microTonnes;
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
 * @param {Settings} settings
 */
function startWorker({ registry, appId, privateKey }, settings) {
  const env = {
    ...environmentOf(settings),
    REGISTRY_BASE_URL: registry.url,
    REGISTRY_APP_ID: appId,
    REGISTRY_PRIVATE_KEY: privateKey,
    SYNC_SCHEDULE: ONCE_A_YEAR,
    OPERATIONS_PORT: '0',
    LOG_LEVEL: 'warn',
    ...(CALLS && { REGISTRY_REQUESTS_PER_SECOND: CALLS }),
  };
  const worker = start([MAIN, 'work'], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  worker.once('exit', (code, signal) => (gone ??= `the worker ended with ${code ?? signal}`));
  return worker;
}

/** @param {Settings} settings */
function environmentOf({ dataDir, database }) {
  return { DATA_DIR: dataDir, ...(database !== null && { MIRROR_DATABASE_URL: database.url }) };
}

/**
 * Opens the tables that the worker writes. `schema` and `inbox` precede the names of tables in statements.
 * @param {Settings} settings
 */
async function openTables({ dataDir, database }) {
  if (database !== null) {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    return {
      schema: 'mirror.',
      inbox: 'inbox.',
      run: (/** @type {string} */ sql) => client.query(sql),
      list: async (/** @type {string} */ sql) => (await client.query(sql)).rows,
      close: () => client.end(),
    };
  }
  const mirror = new Database(join(dataDir, 'mirror.db'));
  const inbox = new Database(join(dataDir, 'inbox.db'));
  for (const db of [mirror, inbox]) db.pragma('busy_timeout = 60000');
  const of = (/** @type {string} */ sql) => (/\bjobs\b/.test(sql) ? inbox : mirror);
  return {
    schema: '',
    inbox: '',
    run: async (/** @type {string} */ sql) => void of(sql).exec(sql),
    list: async (/** @type {string} */ sql) => {
      /** @type {import('better-sqlite3').Statement<[], Record<string, unknown>>} */
      const statement = of(sql).prepare(sql);
      return statement.all();
    },
    close: async () => {
      mirror.close();
      inbox.close();
    },
  };
}

/**
 * Returns queries about the worker's progress.
 * @param {Tables} tables
 */
function openProgress({ schema, inbox, list }) {
  const count = async (/** @type {string} */ sql) =>
    Number((await list(`SELECT count(*) AS n FROM ${sql}`))[0]?.['n']);
  const countDue = () =>
    count(
      `${inbox}jobs WHERE state = 'running' OR state = 'waiting' AND run_at <= '${new Date().toISOString()}'`,
    );
  return {
    isListed: async () => (await count(`${schema}origin WHERE listed_at IS NOT NULL`)) > 0,
    warehouses: () => count(`${schema}resource_states WHERE resource = 'warehouse' AND as_of IS NOT NULL`),
    idle: () => until(async () => (await countDue()) === 0),
  };
}

/**
 * @param {string} title
 * @param {World} world
 * @param {ChildProcess} worker
 * @param {() => Promise<void>} work
 */
async function measureRound(title, world, worker, work) {
  const before = processorMs(worker.pid);
  await world.mark();
  process.stdout.write(`\n${title}\n`);
  show('seconds', (await timed(work)) / 1000, 's');
  show('calls', await world.calls(), 'calls');
  show('calls for each organization', (await world.calls()) / READ, 'calls');
  show('processor time of the worker', (processorMs(worker.pid) - before) / 1000, 's');
  show('peak memory of the worker so far', peakMegabytes(worker.pid), 'MB');
}

/**
 * Checks that `available` counts each installed organization once: either with its amount in the sandbox, or by name as excluded.
 * @param {Reader} reader
 * @param {World} world
 */
async function checkCoverage(reader, world) {
  const available = await readAvailable(reader, { organizationId: null });
  const expected = world.tonnes();
  /** @type {Map<string, number>} */
  const sold = new Map();
  for (const { organization_id: id, amount_micro: micro } of available.rows)
    sold.set(id, (sold.get(id) ?? 0) + Number(micro));
  const left = new Set(available.excluded.map(each => each.organization_id));
  const wrong = [...expected.keys()].filter(id =>
    left.has(id) ? sold.has(id) : (sold.get(id) ?? 0) !== expected.get(id),
  );
  show(`${READ - left.size} read, left out`, left.size, 'organizations');
  const gap = Math.abs(available.known - world.installed());
  demand('known more or less than are installed', gap, 'organizations', NONE);
  demand('organizations whose credits are not those of the registry', wrong.length, '', NONE);
}

/**
 * Prints what `doctor` would say, to compare it with the seconds of the round.
 * @param {Reader} reader
 */
async function showEstimate(reader) {
  const firstReads = await readFirstReads(reader, Date.now());
  if (firstReads === null) return;
  const estimate = estimateFirstReads(firstReads, Number(CALLS ?? 20));
  process.stdout.write(`  ${describeFirstReads(estimate)} (${estimate.secondsLeft} s)\n`);
}

/** @param {Settings} settings */
async function measureNow({ dataDir, database }) {
  const { pid, receive, stop: stopConsole } = await openConsole(dataDir, database);
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
  show('peak memory of the console', peakMegabytes(pid), 'MB');
  await stopConsole();
}

/**
 * @param {Settings} settings
 * @param {string} command
 */
async function measureCommand(settings, command) {
  process.stdout.write(`\n${command}\n`);
  const run = () =>
    execFileSync(process.execPath, [MAIN, command], { env: environmentOf(settings), maxBuffer: 1e9 });
  /** @type {number[]} */
  const times = [];
  for (let time = 0; time < COMMANDS; time++) times.push(await timed(run));
  show('median, with the start of Node', median(times), 'ms');
  show('what it prints', run().length, 'bytes');
}

/** @param {ChildProcess} worker */
async function stop(worker) {
  gone = 'the worker was stopped';
  const ended = once(worker, 'exit');
  worker.kill('SIGTERM');
  await ended;
}

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  while (!(await holds())) {
    if (gone !== null) throw new Error(gone);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}
