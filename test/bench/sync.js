// npm run bench -- sync [--engine postgres] [rows|huge|warehouse|certificates|latency ...]: measures the worker and the mirror in turn
// with a baseline (the floor), without a limit of calls per second. Runs all parts, or the named ones. On PostgreSQL there is only `rows`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../dist/src/store/sqlite/driver.js';
import { runChild, startChild, withFolder } from './parts/children.js';
import { post, startReceiver, until } from './parts/deliveries.js';
import { withConnection, freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { createFigures } from './parts/figures.js';
import { install, keyPair, patch, portOf, send, startRegistry } from './parts/registry.js';
import { chooseSize } from './parts/size.js';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Access, Installed } from './parts/registry.js' */
/** @import { Job, JobResult, WorkTask } from './parts/sync-child.js' */
/** @import { FloorTask } from './parts/sync-floor.js' */
/** @typedef {{ url: string, organizationId: string, token: string }} Reading */
/** @typedef {Record<'floor' | 'ours', number[]>} Rounds */

/** Tables that every sync writes, even if nothing changed, and those of heartbeats. sqlite_sequence contains their id counters. */
const RECORD =
  /^(?:origin|sqlite_schema|syncs|resource_states|fences|sqlite_sequence|sqlite_autoindex_resource_states_1)/;
const ROUNDS = chooseSize({ usual: 3, smallest: 1 });
const ROWS = chooseSize({ name: 'ROWS', usual: 100_000, smallest: 300 });
const HUGE = chooseSize({ usual: 1_000_000, smallest: 1_000 });
const CREDITS = chooseSize({ usual: 251_000, smallest: 300 });
const CERTIFICATES = chooseSize({ usual: 1000, smallest: 20 });
const SAMPLES = chooseSize({ usual: 120, smallest: 3 });
const PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};
const ON_FILES = {
  rows: measureRows,
  huge: measureHuge,
  warehouse: measureWarehouse,
  certificates: measureCertificates,
  latency: measureLatency,
};
const ON_SERVER = { rows: measureRowsOnServer };
const { engine, rest: named } = readArguments();
const { show, demand, compare, end } = createFigures();
let blockMs = 0;

await withFolder(async folder => {
  for (const [name, measure] of Object.entries(engine === 'sqlite' ? ON_FILES : ON_SERVER)) {
    if (named.length > 0 && !named.includes(name)) continue;
    process.stdout.write(`\n${name}\n`);
    await measure(folder);
  }
  demand('longest block of the event loop in the worker, in processor time', blockMs, 'ms', { atMost: 50 });
});
end();

/** @param {string} folder */
async function measureRows(folder) {
  const world = await openWorld(join(folder, 'rows'), {
    organizations: 1,
    retirements: ROWS,
    credits: 60,
  });
  /** @type {Rounds} */
  const first = { floor: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    first.floor.push((await floor(world, { work: 'insert', dataDir: freshDir(folder) })).ms);
    const [run] = await ours(world, { dataDir: freshDir(folder), jobs: [retirements(world)] });
    expectRun(run, 'rows_added', ROWS);
    first.ours.push(run.readMs);
  }
  compare(`first sync of ${formatNumber(ROWS)} retirements against the floor`, first, { atMost: 1.15 });

  const dataDir = freshDir(folder);
  /** @type {Rounds} */
  const again = { floor: [], ours: [] };
  await ours(world, { dataDir, jobs: [retirements(world)] });
  for (let round = 0; round < ROUNDS; round++) {
    again.floor.push((await floor(world, { work: 'read', dataDir })).ms);
    const [, run] = await ours(world, {
      dataDir,
      jobs: [retirements(world), { ...retirements(world), inspectWal: true }],
    });
    expectRun(run, 'rows_unchanged', ROWS);
    again.ours.push(run.readMs);
    const { rows_added: added, rows_changed: changedRows, rows_removed: removed } = run.run;
    demand('a sync without changes: rows written', added + changedRows + removed, 'rows', { atMost: 0 });
    show('a sync without changes: the WAL, for the record of the run itself', run.walBytes / 1024, 'kB');
    const others = run.written.filter(name => !RECORD.test(name));
    demand(
      'a sync without changes: tables and indexes written, apart from the record of the read',
      others.length,
      '',
      {
        atMost: 0,
      },
    );
  }
  compare('a second sync without changes against reading and parsing alone', again, { atMost: 1.1 });

  /** @type {Rounds} */
  const shifted = { floor: again.floor, ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    await retireOne(world);
    const [run] = await ours(world, { dataDir, jobs: [retirements(world)] });
    expectRun(run, 'rows_added', 1);
    shifted.ours.push(run.readMs);
  }
  compare('one new row at the front, which shifts every page, against reading alone', shifted, { atMost: 2 });

  /** @type {Rounds} */
  const changed = { floor: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const rows = await changeOneInHundred(world, `round ${round}`);
    const [run] = await ours(world, { dataDir, jobs: [retirements(world)] });
    expectRun(run, 'rows_changed', rows);
    changed.ours.push(run.processorMs);
    const [unchanged] = await ours(world, { dataDir, jobs: [retirements(world)] });
    expectRun(unchanged, 'rows_changed', 0);
    changed.floor.push(unchanged.processorMs);
  }
  compare(
    'processor time of a sync with 1 % changed rows, one on each page, against one without changes, each the first of its process',
    changed,
    // As with a new row at the front, no page can be skipped.
    { atMost: 2 },
  );
  await world.registry.stop();
}

/**
 * Each first sync has a database of its own, as on SQLite it has a folder.
 * @param {string} folder
 */
async function measureRowsOnServer(folder) {
  await withPostgres(async server => {
    const world = await openWorld(join(folder, 'rows'), {
      organizations: 1,
      retirements: ROWS,
      credits: 60,
    });
    const work = { dataDir: folder, jobs: [retirements(world)] };
    /** @type {Rounds} */
    const first = { floor: [], ours: [] };
    let database = '';
    for (let round = 0; round < ROUNDS; round++) {
      const { ms } = await floor(world, { work: 'insert', database: await freshDatabase(server) });
      first.floor.push(ms);
      database = await freshDatabase(server);
      const [run] = await ours(world, { ...work, database });
      expectRun(run, 'rows_added', ROWS);
      first.ours.push(run.readMs);
    }
    compare(`first sync of ${formatNumber(ROWS)} retirements against the floor`, first, { atMost: 1.75 });

    /** @type {Rounds} */
    const again = { floor: [], ours: [] };
    for (let round = 0; round < ROUNDS; round++) {
      again.floor.push((await floor(world, { work: 'read' })).ms);
      const before = await numberIn(database);
      const jobs = [retirements(world), retirements(world)];
      const [, run] = await ours(world, { ...work, jobs, database });
      expectRun(run, 'rows_unchanged', ROWS);
      again.ours.push(run.readMs);
      const taken = (await numberIn(database)) - before;
      demand('a sync without changes: numbers taken by rows', taken, '', { atMost: 0 });
    }
    compare('a second sync without changes against reading and parsing alone', again, { atMost: 1.1 });
    await world.registry.stop();
  });
}

/** @param {string} database */
async function numberIn(database) {
  const { rows } = await withConnection(database, client =>
    client.query('SELECT last FROM mirror.version_counter'),
  );
  return Number(rows[0].last);
}

/** @param {string} folder */
async function measureHuge(folder) {
  /** @type {number[]} */
  const peaks = [];
  for (const rows of [ROWS, HUGE]) {
    const world = await openWorld(join(folder, `huge${rows}`), {
      organizations: 1,
      retirements: rows,
      credits: 60,
    });
    const [run] = await ours(world, { dataDir: freshDir(folder), jobs: [retirements(world)] });
    expectRun(run, 'rows_added', rows);
    show(`first sync of ${formatNumber(rows)} retirements`, run.readMs, 'ms');
    show('peak RSS', run.peakMegabytes, 'MB');
    peaks.push(run.peakMegabytes);
    await world.registry.stop();
  }
  demand(
    `peak RSS at ${formatNumber(HUGE)} against ${formatNumber(ROWS)}`,
    (peaks[1] ?? NaN) / (peaks[0] ?? NaN),
    'times',
    // The heap does not grow, but the highest peak among ten times as many garbage collections is a little higher.
    { atMost: 1.3 },
  );
}

/** @param {string} folder */
async function measureWarehouse(folder) {
  const world = await openWorld(join(folder, 'warehouse'), {
    organizations: 1,
    retirements: 100,
    credits: CREDITS,
  });
  const [huge] = world.installations;
  const other = await addOrganization(world);
  const job = { ...huge, resources: ['warehouse'] };
  const [run, again] = await ours(world, {
    dataDir: freshDir(folder),
    jobs: [{ ...job, beside: other }, job],
  });
  show('credits in one answer', run.run.rows_added, 'rows');
  show('bytes of that answer', run.run.bytes / 1e6, 'MB');
  show('first read', run.readMs, 'ms');
  show('second read, unchanged', again.readMs, 'ms');
  demand("other organizations' jobs done meanwhile", run.others, 'jobs', { atLeast: 1 });
  demand('peak RSS', again.peakMegabytes, 'MB', { atMost: 300 });
  await world.registry.stop();
}

/** @param {string} folder */
async function measureCertificates(folder) {
  const registry = await startFileRegistry({ files: CERTIFICATES, bytes: 200_000 });
  /** @type {Rounds} */
  const times = { floor: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const dataDir = freshDir(folder);
    const { ms } = await floor(registry, {
      work: 'certificates',
      dataDir,
      concurrency: 8,
      ids: registry.ids,
    });
    times.floor.push(ms);
    const jobs = [{ ...retirements(registry), report: 'certificates' }];
    const [run] = await ours(registry, {
      dataDir: freshDir(folder),
      jobs,
      certificates: true,
    });
    expectRun(run, 'rows_added', CERTIFICATES);
    expectRun(run, 'requests', CERTIFICATES);
    times.ours.push(run.readMs);
  }
  compare(`${formatNumber(CERTIFICATES)} certificates of 200 kB against a bare loop`, times, { atMost: 1.1 });
  registry.server.close();
}

/** @param {string} folder */
async function measureLatency(folder) {
  const secret = 'a secret of the benchmark';
  const dataDir = freshDir(folder);
  const world = await openWorld(join(folder, 'latency'), {
    organizations: 12,
    retirements: 120,
    credits: 600,
  });
  const worker = await startServing(world, dataDir);
  const receiver = await startReceiver(world, dataDir, secret);
  const mirror = new Database(join(dataDir, 'mirror.db'), { readonly: true });
  for (const installation of world.installations) await post(receiver.url, secret, world, installation);
  const count = mirror
    .prepare("SELECT count(*) FROM freshness WHERE resource = 'projects' AND as_of IS NOT NULL")
    .pluck();
  await until(() => count.get() === world.installations.length);
  const warehouse = mirror
    .prepare('SELECT sum(amount_micro) FROM warehouse_credits WHERE organization_id = ?')
    .pluck();
  /** @type {number[]} */
  const latencies = [];
  await new Promise(resolve => setTimeout(resolve, 1500));
  for (let sample = 0; sample < SAMPLES; sample++) {
    const installation = world.installations[sample % world.installations.length] ?? world.installations[0];
    const { organizationId } = installation;
    const before = warehouse.get(organizationId);
    await deposit(world, organizationId);
    await post(receiver.url, secret, world, installation);
    const answeredAt = performance.now();
    await until(() => warehouse.get(organizationId) !== before);
    latencies.push(performance.now() - answeredAt);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  mirror.close();
  const sorted = latencies.toSorted((a, b) => a - b);
  /** @type {(part: number) => number} */
  const at = part => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
  const what = "from a delivery's 202 to the changed row in another process";
  demand(`${what}: p50`, at(0.5), 'ms', { under: 100 });
  demand(`${what}: p99`, at(0.99), 'ms', { under: 500 });
  const report = await stopServing(worker);
  blockMs = Math.max(blockMs, report.blockMs);
  receiver.child.kill('SIGTERM');
  await world.registry.stop();
}

/**
 * @param {{ installations: readonly [Installed, ...Installed[]] }} world
 * @returns {Job}
 */
function retirements({ installations: [{ installationId, organizationId }] }) {
  return { installationId, organizationId, resources: ['retirements'] };
}

/**
 * @param {string} folder
 * @param {{ organizations: number, retirements: number, credits: number }} world
 */
async function openWorld(folder, world) {
  mkdirSync(folder);
  const registry = await startRegistry({ folder, seed: 1, world });
  const { organizations } = world;
  const installed = await install(registry.url, { organizations, permissions: PERMISSIONS });
  const { projects } = await send(`${registry.url}/_sandbox/projects`);
  return { ...installed, registry, folder, projectId: projects[0].id };
}

/** @param {Access} access */
async function addOrganization({ url, appId }) {
  const { organization } = await send(`${url}/_sandbox/organizations`, {
    user: { email: 'other@people.example', fullName: 'Ada' },
    organization: { fullName: 'Other', type: 'other', countryCode: 'IS' },
  });
  const { id } = await send(`${url}/_sandbox/installations`, { appId, organizationId: organization.id });
  return { installationId: id, organizationId: organization.id };
}

/**
 * Adds one retirement at the front of the list, for which the next sync must write exactly three rows.
 * @param {Reading} world
 */
async function retireOne({ url, organizationId, token }) {
  const base = `${url}/organizations/${organizationId}`;
  const { credits } = await send(`${base}/warehouse/inventory`, undefined, `Bearer ${token}`);
  const body = { creditId: credits[0].id, amount: 0.001 };
  const { id } = await send(`${base}/warehouse/inventory/reservations`, body, `Bearer ${token}`);
  const retirementData = { reason: 'benchmark', beneficiaryName: 'Benchmark' };
  await send(`${base}/warehouse/inventory/reservations/${id}/retire`, { retirementData }, `Bearer ${token}`);
}

/**
 * Issues one more tonne of a credit that the warehouse holds.
 * @param {{ url: string, projectId: string }} world
 * @param {string} organizationId
 */
async function deposit({ url, projectId }, organizationId) {
  const body = { organizationId, projectId, place: 'warehouse', amount: 1, vintage: '2023' };
  await send(`${url}/_sandbox/credits`, body);
}

/**
 * Changes one in a hundred retirements, if it is claimed.
 * @param {Reading} world
 * @param {string} comment
 */
async function changeOneInHundred({ url, organizationId, token }, comment) {
  let changes = 0;
  for (let page = 0; ; page++) {
    const path = `/organizations/${organizationId}/retirements?limit=100&page=${page}`;
    const { retirements: rows, pagination } = await send(`${url}${path}`, undefined, `Bearer ${token}`);
    const { id, isClaimed, reason, beneficiary } = rows[7] ?? {};
    if (isClaimed) {
      await patch(`${url}/_sandbox/retirements/${id}`, { reason, beneficiary, comment });
      changes += 1;
    }
    if (pagination.nextPage === null) return changes;
  }
}

/**
 * @param {Reading} world
 * @param {Partial<FloorTask>} work
 * @returns {Promise<{ rows: number, ms: number }>}
 */
async function floor({ url, organizationId, token }, work) {
  const [result] = await runChild('sync-floor.js', { url, organizationId, token, ...work });
  return result;
}

/**
 * Runs jobs in a worker of their own, one after the other. Returns the results of the first and of the last one.
 * @param {Access} world
 * @param {Omit<WorkTask, 'url' | 'appId' | 'privateKey'>} work
 * @returns {Promise<[JobResult, JobResult]>}
 */
async function ours({ url, appId, privateKey }, work) {
  /** @type {JobResult[]} */
  const results = await runChild('sync-child.js', { url, appId, privateKey, ...work });
  for (const result of results) blockMs = Math.max(blockMs, result.blockMs);
  const [first, last] = [results[0], results.at(-1)];
  if (first === undefined || last === undefined) throw new Error('expected the result of a job');
  return [first, last];
}

/**
 * Starts the smallest registry that can serve certificates of any size.
 * @param {{ files: number, bytes: number }} sizes
 */
async function startFileRegistry({ files, bytes }) {
  const organizationId = 'organization-1';
  const installationId = 'installation-1';
  const ids = Array.from({ length: files }, (_, index) => `retirement-${index}`);
  const pdf = Buffer.concat([
    Buffer.from('%PDF-1.7\n'),
    Buffer.alloc(bytes - 16, 'x'),
    Buffer.from('\n%%EOF\n'),
  ]);
  const installation = {
    id: installationId,
    appId: 'app-1',
    organization: { id: organizationId },
    permissions: PERMISSIONS,
  };
  const token = {
    token: 'crs_benchmark',
    expiresAt: '2100-01-01T00:00:00.000Z',
    permissions: PERMISSIONS,
    installationId,
    organizationId,
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname.endsWith('/pdf')) {
      response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': pdf.length }).end(pdf);
      return;
    }
    const page = Number(searchParams.get('page') ?? 0);
    const rows = ids
      .slice(page * 100, page * 100 + 100)
      .map(id => ({ id, amount: 1, isClaimed: true, organizationId }));
    const pagination = {
      total: files,
      currentPage: page,
      pageCount: Math.ceil(files / 100),
      nextPage: page + 1,
      prevPage: null,
    };
    const body = pathname.endsWith('/accessTokens')
      ? token
      : pathname.endsWith('/retirements')
        ? { pagination, retirements: rows }
        : installation;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${portOf(server)}`;
  const { privateKey } = keyPair();
  return {
    url,
    server,
    ids,
    appId: 'app-1',
    privateKey,
    organizationId,
    token: token.token,
    installations: /** @type {[Installed]} */ ([{ installationId, organizationId }]),
  };
}

/**
 * @param {Access} access
 * @param {string} dataDir
 */
async function startServing({ url, appId, privateKey }, dataDir) {
  const task = { url, appId, privateKey, dataDir, serve: true };
  const { process: child } = await startChild('sync-child.js', [JSON.stringify(task)]);
  return child;
}

/** @param {ChildProcess} child */
async function stopServing(child) {
  child.kill('SIGTERM');
  if (child.stdout === null) throw new Error('the worker has no output to read');
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(String(line));
}

/**
 * Formats a number with thousands separators, such as 1,000.
 * @param {number} value
 */
function formatNumber(value) {
  return value.toLocaleString('en');
}

/** @param {string} folder */
function freshDir(folder) {
  return mkdtempSync(join(folder, 'data-'));
}

/**
 * @param {JobResult} result
 * @param {'rows_added' | 'rows_changed' | 'rows_unchanged' | 'requests'} column
 * @param {number} value
 */
function expectRun({ run }, column, value) {
  if (run.state !== 'complete' || run[column] !== value)
    throw new Error(`expected a complete run with ${column} ${value}, got ${JSON.stringify(run)}`);
}
