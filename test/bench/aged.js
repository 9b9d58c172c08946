// npm run bench -- aged [--engine postgres]: measures a mirror that is 90 days old: 200 organizations with 1,000,000 past row versions. It
// measures the tick of the scheduler, each kind of finding, the commands that read everything, and every page of the console. A figure
// is the processor time of all processes, including the server of PostgreSQL.
//
//   ORGANIZATIONS, PAST, DAYS   environment variables for other sizes; ORGANIZATIONS=10000 PAST=200000 is a large fleet
//   ONLY=TEXT                   measures only what has this text in its name
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { runTick } from '../../dist/src/sync/schedule/tick-schedule.js';
import { createMirror } from '../../dist/src/mirror/create-mirror.js';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { openDatabase } from '../../dist/src/store/sqlite/open-database.js';
import { fillAgedMirror } from '../support/mirror/aged.js';
import { MAIN, withFolder } from './parts/children.js';
import { withConnection, freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { createFigures, median, processorMs, timed } from './parts/figures.js';
import { chooseSize, IS_SMALLEST } from './parts/size.js';
import { openConsole } from './parts/visitor.js';

/** @import { Engine } from '../../dist/src/store/engine.js' */
/** @import { Settings } from './parts/engine.js' */

const { engine: engineName } = readArguments();
const ORGANIZATIONS = chooseSize({ name: 'ORGANIZATIONS', usual: 200, smallest: 5 });
const PAST = chooseSize({ name: 'PAST', usual: 1_000_000, smallest: 500 });
const DAYS = chooseSize({ name: 'DAYS', usual: 90, smallest: 9 });
const { ONLY = '' } = process.env;
/** Half of the scheduled reads are old enough to be removed. */
const RETENTION_DAYS = DAYS / 2;
const READS_PER_DAY = 2;
const VISITS = chooseSize({ usual: 3, smallest: 1 });
const TICK_MS = 10;
const ENDING_MS = 500;
/** A command that takes longer is killed. Its figure is the processor time until then. */
const LONGEST_MS = 600_000;
/** Bounds grow with the number of past versions or of organizations, whichever must be read. */
const MILLION = Math.max(PAST, 1) / 1_000_000;
const THOUSAND = ORGANIZATIONS / 1_000;

/** @type {(ms: number) => { atMost: number }} */
const atMost = ms => ({ atMost: Math.round(ms) });
const PAGE = atMost(100);
/** A page about the past of one organization reads all its versions, at 10 µs each. */
const PAGE_OF_PAST = atMost(100 + PAST / ORGANIZATIONS / 100);

/** Each kind of finding, and its bound. Kinds that read only current rows do not take longer as the mirror ages. */
/** @type {readonly [string, { atMost: number }][]} */
const KINDS = [
  ['negative_amount', atMost(400)],
  ['serialization_twice', atMost(400)],
  ['reservation_outlived', atMost(400)],
  ['balance_retirements', atMost(600)],
  ['restatements', atMost(400)],
  ['listed_and_retired', atMost(500 + 10_000 * MILLION)],
  ['balance_credits', atMost(500 + 10_000 * MILLION)],
];

/** @type {readonly [string, readonly string[], { atMost: number }][]} */
const COMMANDS = [
  ['status', ['status'], atMost(400 + 200 * THOUSAND)],
  ['available', ['available', '--json'], atMost(400 + 600 * THOUSAND)],
  ['doctor', ['doctor', '--json'], atMost(2_000 + 2_000 * MILLION)],
  ['changes --since 24h', ['changes', '--since', '24h', '--json'], atMost(2_000 * Math.max(1, MILLION))],
  [
    'as-of 45 days ago, one organization',
    ['as-of', `${DAYS / 2}d`, '--organization', 'organization-2', '--json'],
    atMost(600),
  ],
  ['balance', ['balance', '--json'], atMost(1_000 + 10_000 * MILLION + 500 * THOUSAND)],
  ['verify', ['verify', '--json'], atMost(2_000 + 90_000 * MILLION)],
];

const ORGANIZATION = 'organization-2';
const HEARTBEAT_MS = 15_000;
const STALE_MS = 2 * 3_600_000;
/** The address of each page that reads the mirror, and its bound if that is not the usual one. */
/** @type {readonly [string, { atMost: number }?][]} */
const PAGES = [
  ['/'],
  [`/?as-of=${DAYS / 2}d`, atMost(200 + 2_000 * MILLION + 200 * THOUSAND)],
  ['/changes'],
  ['/changes?since=7d'],
  [`/changes?since=7d&organization_id=${ORGANIZATION}`],
  // The first visit is not measured: it takes as long as the command. Its result is then cached for a while.
  ['/balance', atMost(300)],
  ['/installations'],
  ['/organizations'],
  ['/warehouse'],
  [`/warehouse?organization_id=${ORGANIZATION}`],
  [`/warehouse?as-of=${DAYS / 2}d`, atMost(200 + 2_000 * MILLION)],
  [`/warehouse?as-of=${DAYS / 2}d&organization_id=${ORGANIZATION}`, PAGE_OF_PAST],
  ['/inventory'],
  ['/retirements'],
  [`/retirements?as-of=${DAYS / 2}d`, atMost(200 + 2_000 * MILLION)],
  ['/retirements?beneficiary=Beneficiary+7'],
  ['/projects'],
  ['/reservations'],
  ['/inventory-requests'],
  ['/certificates'],
  ['/members'],
  ['/addresses'],
  ['/deliveries'],
  ['/rejected-webhooks'],
  ['/jobs'],
  ['/syncs'],
  [`/organizations/${ORGANIZATION}`],
  [`/organizations/${ORGANIZATION}?as-of=${DAYS / 2}d`, PAGE_OF_PAST],
  ['/warehouse/credit-2-1'],
  ['/projects/project-1'],
  ['/retirements/retirement-2-1'],
  ['/search?q=organization-2'],
  ['/search?q=Beneficiary+7'],
  ['/search?q=nothing+has+this'],
  ['/help'],
];

/** If no worker has run for hours, no list is fresh, and each page must rank and add up all warehouses. */
const STALE = atMost(100 + 20 * THOUSAND);
/** @type {readonly [string, { atMost: number }?][]} */
const STALE_PAGES = [
  ['/', STALE],
  ['/projects/project-1', STALE],
  ['/reservations', STALE],
  [`/organizations/${ORGANIZATION}`],
];

const { show, demand, end } = createFigures();
/** The process of the PostgreSQL server; undefined with SQLite. */
/** @type {number | undefined} */
let serverPid;

if (engineName === 'sqlite')
  await withFolder(folder => measure({ dataDir: join(folder, 'data'), database: null }, folder));
else {
  await withPostgres(async server => {
    serverPid = server.pid;
    const url = await freshDatabase(server);
    await withFolder(folder =>
      measure({ dataDir: join(folder, 'data'), database: { url, queryUrl: null, pool: null } }, folder),
    );
  });
}
end();

/**
 * @param {Settings} settings
 * @param {string} folder
 */
async function measure(settings, folder) {
  const engine = openEngine({ ...settings, diskReserveMb: null });
  const filledMs = await timed(() => fill(engine, settings));
  process.stdout.write(`\n${engineName}: ${PAST} older versions of ${ORGANIZATIONS} organizations\n`);
  show('filled in', filledMs / 1000, 's');
  process.stdout.write('\nprocessor time\n');
  await measureTick(engine);
  await measureFindings(engine, settings);
  const env = commandEnvironment(settings);
  for (const [name, argv, bound] of COMMANDS) await measureCommand(name, argv, bound, env);
  if (settings.database === null) {
    const backup = ['backup', join(folder, 'backup')];
    await measureCommand('backup, with its check', backup, atMost(3_000 + 80_000 * MILLION), env);
  }
  await measurePages(settings);
  const confirmed = ['--confirm', 'Organization 3', '--force'];
  const purge = ['purge', '--organization', 'organization-3', ...confirmed];
  // On SQLite a purge writes the whole file again, so that nothing of the organization remains in it.
  await measureCommand('purge of one organization', purge, atMost(1_000 + 4_000 * MILLION), env);
}

/**
 * @param {Engine} engine
 * @param {Settings} settings
 */
async function fill(engine, settings) {
  const { database } = settings;
  await engine.migrate(Date.now());
  const size = {
    organizations: ORGANIZATIONS,
    pastVersions: PAST,
    days: DAYS,
    readsPerDay: READS_PER_DAY,
    readRows: ORGANIZATIONS <= 1_000,
  };
  const { change, close } = await openForChanges(settings);
  await fillAgedMirror({ change }, database === null ? 'sqlite' : 'postgres', size);
  if (database !== null) await change('VACUUM ANALYZE');
  await close();
}

/**
 * Opens the mirror for statements that change rows.
 * @param {Settings} settings
 * @returns {Promise<{ change: (sql: string) => Promise<void>, close: () => Promise<void> }>}
 */
async function openForChanges({ dataDir, database }) {
  if (database === null) {
    const db = openDatabase(join(dataDir, 'mirror.db'), { busyTimeoutMs: 5_000 });
    return { change: async sql => void db.prepare(sql).run(), close: async () => void db.close() };
  }
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('SET search_path = mirror');
  return { change: async sql => void (await client.query(sql)), close: () => client.end() };
}

/** @param {Settings} settings */
function commandEnvironment({ dataDir, database }) {
  const where = database === null ? {} : { MIRROR_DATABASE_URL: database.url };
  return { DATA_DIR: dataDir, NODE_ENV: 'production', ...where };
}

/**
 * Measures the tick of the scheduler with all that it prunes. The registry does not answer it.
 * @param {Engine} engine
 */
async function measureTick(engine) {
  if (!'tick'.includes(ONLY)) return;
  const writers = await engine.openWriterStores(Date.now);
  const { inbox } = writers;
  const mirror = createMirror(writers.mirror, Date.now);
  const refuse = () => {
    throw new Error('the registry of the benchmark does not answer');
  };
  const client = new Proxy({}, { get: () => new Proxy({}, { get: () => refuse }) });
  const context = {
    inbox,
    mirror,
    client,
    now: Date.now,
    random: Math.random,
    retentionDays: RETENTION_DAYS,
  };
  const running = {
    job: { payload: { intervalMs: 900_000 } },
    signal: new AbortController().signal,
    yieldTurn: async () => undefined,
  };
  /** @type {any[]} */
  const tickArguments = [context, running];
  const tick = () => Reflect.apply(runTick, undefined, tickArguments);
  await demandProcessor('first tick: removes half of the reads', tick, atMost(1_000 + 40_000 * THOUSAND));
  await demandProcessor('next tick: removes nothing', tick, atMost(500 + 1_000 * THOUSAND));
  await writers.close();
}

/**
 * Counts each kind of finding: in a process of its own with SQLite, as a worker does, and in the server with PostgreSQL.
 * @param {Engine} engine
 * @param {Settings} settings
 */
async function measureFindings(engine, { database }) {
  for (const [kind, bound] of KINDS) {
    if (!`finding ${kind}`.includes(ONLY)) continue;
    let counted = 0;
    await demandProcessor(
      () => `finding ${kind}: ${counted}`,
      async () => {
        const sql = `SELECT rows FROM mirror.findings WHERE finding = '${kind}'`;
        if (database !== null) await withConnection(database.url, client => client.query(sql));
        else {
          const { rows } = await engine.runSqlQuery({
            sql: sql.replace('mirror.', ''),
            timeLimitMs: LONGEST_MS,
          });
          for await (const { rows: count } of rows) counted = Number(count);
          // The processor time of the counting process is known only after that process has ended.
          await new Promise(resolve => setTimeout(resolve, ENDING_MS));
        }
      },
      bound,
    );
  }
}

/**
 * Measures a command that is started as a process.
 * @param {string} name
 * @param {readonly string[]} argv
 * @param {{ atMost: number }} bound
 * @param {Record<string, string>} env
 */
async function measureCommand(name, argv, bound, env) {
  if (!name.includes(ONLY)) return;
  let note = '';
  const run = async () => {
    const child = spawn(process.execPath, [MAIN, ...argv], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let errorOutput = '';
    child.stderr.setEncoding('utf8').on('data', text => (errorOutput += text));
    const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
    const [code, signal] = await once(child, 'close');
    clearTimeout(timer);
    if (signal !== null) note = `, ended after ${LONGEST_MS / 1000} s`;
    // Exit code 3 means that a check has found something.
    else if (code !== 0 && code !== 3) throw new Error(`${name} ended with ${code}: ${errorOutput}`);
  };
  await demandProcessor(() => `${name}${note}`, run, bound);
}

/**
 * Measures the pages beside a worker that has just read every list, and some pages long after the last worker ended.
 * @param {Settings} settings
 */
async function measurePages(settings) {
  const pages = PAGES.filter(([path]) => path.includes(ONLY));
  const stalePages = STALE_PAGES.filter(([path]) => `without a worker ${path}`.includes(ONLY));
  if (pages.length + stalePages.length === 0) return;
  const { change, close } = await openForChanges(settings);
  await change(`UPDATE origin SET worker_seen_at = '${ago(STALE_MS)}'`);
  await change(`UPDATE resource_states SET as_of = '${ago(STALE_MS)}'`);
  const { open, pid, stop } = await openConsole(settings.dataDir, settings.database);
  await measureVisits(stalePages, 'without a worker ', open, pid);
  await stop();
  await change(`UPDATE resource_states SET as_of = '${ago(0)}'`);
  const beat = () => change(`UPDATE origin SET worker_seen_at = '${ago(0)}'`);
  await beat();
  const timer = setInterval(() => void beat(), HEARTBEAT_MS);
  const other = await openConsole(settings.dataDir, settings.database);
  await measureVisits(pages, '', other.open, other.pid);
  await other.stop();
  clearInterval(timer);
  await close();
}

/** @param {number} ms */
function ago(ms) {
  return new Date(Date.now() - ms).toISOString();
}

/**
 * @param {readonly (readonly [string, { atMost: number }?])[]} pages
 * @param {string} prefix
 * @param {(path: string) => Promise<Response>} open
 * @param {number | undefined} pid
 */
async function measureVisits(pages, prefix, open, pid) {
  for (const [path, bound = PAGE] of pages) {
    let note = '';
    const visit = async () => {
      try {
        const answer = await open(path);
        await answer.arrayBuffer();
        if (answer.status >= 400) note = `, answered ${answer.status}`;
      } catch {
        // The client waits for five minutes.
        note = ', did not answer in time';
      }
    };
    await visit();
    const times = [];
    for (let n = 0; n < VISITS; n++) {
      const before = processorTime(pid);
      await visit();
      times.push(processorTime(pid) - before);
    }
    demand(`${prefix}${path}${note}`, median(times), 'ms', bound);
  }
}

/**
 * Runs work, and reports its processor time with a bound.
 * @param {string | (() => string)} name
 * @param {() => unknown} work
 * @param {{ atMost: number }} bound
 */
async function demandProcessor(name, work, bound) {
  const before = processorTime();
  await work();
  const took = processorTime() - before;
  demand(typeof name === 'string' ? name : name(), took, 'ms', bound);
}

/**
 * Returns the processor time so far of this process, of children that have ended, of a process that runs, and of the server.
 * @param {number} [runningPid]
 */
function processorTime(runningPid) {
  const { user, system } = process.cpuUsage();
  const running = runningPid === undefined ? 0 : processorMs(runningPid);
  const own = runningPid === undefined ? (user + system) / 1000 + endedChildrenMs('self') : 0;
  return own + running + serverTime();
}

/** Returns the processor time of the server, its connections, and those that have ended. */
function serverTime() {
  if (serverPid === undefined) return 0;
  const connections = readdirSync('/proc').filter(name => /^\d+$/.test(name) && parentOf(name) === serverPid);
  const times = connections.map(pid => {
    try {
      return processorMs(Number(pid));
    } catch {
      // The process has ended meanwhile. Its time is now part of the server's time for ended children.
      return 0;
    }
  });
  return times.reduce((sum, each) => sum + each, processorMs(serverPid) + endedChildrenMs(serverPid));
}

/** @param {string} pid */
function parentOf(pid) {
  try {
    return Number(fieldsOf(pid)[1]);
  } catch {
    return null;
  }
}

/** @param {number | string} pid */
function endedChildrenMs(pid) {
  const [user, system] = fieldsOf(pid).slice(13, 15);
  return (Number(user) + Number(system)) * TICK_MS;
}

/**
 * Returns the fields after the name of a process.
 * @param {number | string} pid
 */
function fieldsOf(pid) {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  return rest.split(' ');
}

if (IS_SMALLEST) process.stdout.write('at the smallest size no bound applies\n');
