// The bounds of the worker and the mirror. Floors and our side alternate in one run; the call budget is unlimited.
// npm run bench -- sync [rows|huge|warehouse|certificates|latency ...]: all parts, or those named.
import { spawn } from 'node:child_process';
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Database } from '../../dist/engines/sqlite/driver.js';

/** Where every run is entered, whatever it finds, and each sign of life; sqlite_sequence is the counter of its ids. */
const RECORD =
  /^(?:origin|sqlite_schema|sync_runs|resource_states|fences|sqlite_sequence|sqlite_autoindex_resource_states_1)/;
const ROUNDS = 3;
const VERSION = { 'x-registry-api-version': '2023-06-16' };
const PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};
const path = name => fileURLToPath(new URL(name, import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'bench-sync-'));
const children = new Set();
const misses = [];
let blockMs = 0;

const PARTS = {
  rows: measureRows,
  huge: measureHuge,
  warehouse: measureWarehouse,
  certificates: measureCertificates,
  latency: measureLatency,
};
const named = process.argv.slice(3);
try {
  for (const [name, measure] of Object.entries(PARTS)) {
    if (named.length > 0 && !named.includes(name)) continue;
    process.stdout.write(`\n${name}\n`);
    await measure();
  }
  check('longest block of the event loop in the worker', blockMs, 'ms', value => value <= 50, 'at most 50');
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
}
for (const miss of misses) process.stdout.write(`MISSED ${miss}\n`);
process.exitCode = misses.length === 0 ? 0 : 1;

async function measureRows() {
  const world = await openWorld('rows', { organizations: 1, retirements: 100_000, credits: 60 });
  const first = { floor: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    first.floor.push((await floor(world, { work: 'insert', dataDir: freshDir() })).ms);
    const [run] = await ours(world, { dataDir: freshDir(), jobs: [retirements(world)] });
    expectRun(run, 'rows_added', 100_000);
    first.ours.push(run.readMs);
  }
  ratio('first sync of 100,000 retirements against the floor', first, 1.3);

  const dataDir = freshDir();
  const again = { floor: [], ours: [] };
  await ours(world, { dataDir, jobs: [retirements(world)] });
  for (let round = 0; round < ROUNDS; round++) {
    again.floor.push((await floor(world, { work: 'read', dataDir })).ms);
    const [, run] = await ours(world, {
      dataDir,
      jobs: [retirements(world), { ...retirements(world), inspectWal: true }],
    });
    expectRun(run, 'rows_unchanged', 100_000);
    again.ours.push(run.readMs);
    check(
      'a sync without changes: rows written',
      run.run.rows_added + run.run.rows_changed + run.run.rows_removed,
      'rows',
      value => value === 0,
      'none',
    );
    show('a sync without changes: the WAL, for the record of the run itself', run.walBytes / 1024, 'kB');
    check(
      'a sync without changes: tables and indexes written but for that record',
      run.written.filter(name => !RECORD.test(name)).length,
      '',
      value => value === 0,
      'none',
    );
  }
  ratio('a second sync without changes against reading and parsing alone', again, 1.1);

  const shifted = { floor: again.floor, ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    await retireOne(world);
    const [run] = await ours(world, { dataDir, jobs: [retirements(world)] });
    expectRun(run, 'rows_added', 1);
    shifted.ours.push(run.readMs);
  }
  ratio('one new row at the front, which shifts every page, against reading alone', shifted, 2);

  const changed = { floor: again.ours, ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const rows = changeOneInHundred(world, `round ${round}`);
    const [run] = await ours(world, { dataDir, jobs: [retirements(world)] });
    expectRun(run, 'rows_changed', rows);
    changed.ours.push(run.readMs);
  }
  ratio('1 % changed against the unchanged sync', changed, 1.5);
  close(world);
}

async function measureHuge() {
  const peaks = [];
  for (const rows of [100_000, 1_000_000]) {
    const world = await openWorld(`huge${rows}`, { organizations: 1, retirements: rows, credits: 60 });
    const [run] = await ours(world, { dataDir: freshDir(), jobs: [retirements(world)] });
    expectRun(run, 'rows_added', rows);
    show(`first sync of ${rows.toLocaleString('en')} retirements`, run.readMs, 'ms');
    show('peak RSS', run.peakMegabytes, 'MB');
    peaks.push(run.peakMegabytes);
    close(world);
  }
  check(
    'peak RSS at 1,000,000 against 100,000',
    peaks[1] / peaks[0],
    'times',
    value => value <= 1.2,
    'at most 1.2',
  );
}

async function measureWarehouse() {
  const world = await openWorld('warehouse', { organizations: 1, retirements: 100, credits: 251_000 });
  const [huge] = world.installations;
  const other = await addOrganization(world);
  const job = { ...huge, resources: ['warehouse'] };
  const [run, again] = await ours(world, { dataDir: freshDir(), jobs: [{ ...job, beside: other }, job] });
  show('credits in one answer', run.run.rows_added, 'rows');
  show('bytes of that answer', run.run.bytes / 1e6, 'MB');
  show('first read', run.readMs, 'ms');
  show('second read, unchanged', again.readMs, 'ms');
  check("other organizations' jobs done meanwhile", run.others, 'jobs', value => value > 0, 'some');
  check('peak RSS', again.peakMegabytes, 'MB', value => value <= 300, 'at most 300');
  close(world);
}

async function measureCertificates() {
  const registry = await startFileRegistry({ files: 1000, bytes: 200_000 });
  const times = { floor: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const dataDir = freshDir();
    const { ms } = await floor(registry, {
      work: 'certificates',
      dataDir,
      concurrency: 8,
      ids: registry.ids,
    });
    times.floor.push(ms);
    const jobs = [{ ...retirements(registry), report: 'certificates' }];
    const [run] = await ours(registry, {
      dataDir: freshDir(),
      jobs,
      certificates: true,
    });
    expectRun(run, 'rows_added', 1000);
    expectRun(run, 'requests', 1000);
    times.ours.push(run.readMs);
  }
  const speed = best(times.floor) / best(times.ours);
  showRounds('bare loop', times.floor);
  showRounds('ours', times.ours);
  check(
    '1,000 certificates of 200 kB: speed against a bare loop',
    speed,
    'times',
    value => value >= 0.9,
    'at least 0.9',
  );
  registry.server.close();
}

async function measureLatency() {
  const secret = 'a secret of the benchmark';
  const dataDir = freshDir();
  const world = await openWorld('latency', { organizations: 12, retirements: 120, credits: 600 });
  const worker = await startServing(world, dataDir);
  const door = await startDoor(world, dataDir, secret);
  const mirror = new Database(join(dataDir, 'mirror.db'), { readonly: true });
  for (const installation of world.installations) await post(door.url, secret, world, installation);
  const count = mirror
    .prepare("SELECT count(*) FROM resource_states WHERE resource = 'projects' AND complete_at IS NOT NULL")
    .pluck();
  await until(() => count.get() === world.installations.length, 60_000);
  const warehouse = mirror
    .prepare('SELECT sum(amount_micro) FROM warehouse_credits WHERE organization_id = ?')
    .pluck();
  const latencies = [];
  await new Promise(resolve => setTimeout(resolve, 1500));
  for (let sample = 0; sample < 120; sample++) {
    const installation = world.installations[sample % world.installations.length];
    const { organizationId } = installation;
    const before = warehouse.get(organizationId);
    await deposit(world, organizationId);
    await post(door.url, secret, world, installation);
    const answeredAt = performance.now();
    await until(() => warehouse.get(organizationId) !== before, 5000);
    latencies.push(performance.now() - answeredAt);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  mirror.close();
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = part => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  check(
    "from a delivery's 202 to the changed row in another process: p50",
    at(0.5),
    'ms',
    value => value < 100,
    'under 100',
  );
  check('p99', at(0.99), 'ms', value => value < 500, 'under 500');
  const [report] = await stopServing(worker);
  blockMs = Math.max(blockMs, report.blockMs);
  door.child.kill('SIGTERM');
  close(world);
}

function retirements({ installations: [{ installationId, organizationId }] }) {
  return { installationId, organizationId, resources: ['retirements'] };
}

async function openWorld(name, world) {
  const folder = join(root, name);
  mkdirSync(folder);
  const options = JSON.stringify({ port: 0, folder, seed: 1, world });
  const child = spawn(process.execPath, [path('sandbox-child.js'), options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const [line] = await once(child.stdout, 'data');
  const url = String(line).trim();
  const { publicKey, privateKey } = keyPair();
  const app = await send(`${url}/_sandbox/apps`, {
    name: 'Bench sync',
    permissions: PERMISSIONS,
    publicKeys: [publicKey],
  });
  const { organizations } = await send(`${url}/_sandbox/organizations`);
  const installations = [];
  for (const { id: organizationId } of organizations.slice(0, world.organizations)) {
    const { id } = await send(`${url}/_sandbox/installations`, { appId: app.id, organizationId });
    installations.push({ installationId: id, organizationId });
  }
  const jwt = `Bearer ${signJwt(app.id, privateKey)}`;
  const [{ installationId, organizationId }] = installations;
  const { token } = await send(`${url}/app/installations/${installationId}/accessTokens`, {}, jwt);
  const { projects } = await send(`${url}/_sandbox/projects`);
  const [{ id: projectId }] = projects;
  return { url, child, folder, appId: app.id, privateKey, installations, organizationId, token, projectId };
}

async function addOrganization({ url, appId }) {
  const { organization } = await send(`${url}/_sandbox/organizations`, {
    user: { email: 'other@people.example', fullName: 'Ada' },
    organization: { fullName: 'Other', type: 'other', countryCode: 'IS' },
  });
  const { id } = await send(`${url}/_sandbox/installations`, { appId, organizationId: organization.id });
  return { installationId: id, organizationId: organization.id };
}

function close({ child }) {
  child.kill('SIGKILL');
  children.delete(child);
}

/** Three rows and no more: one more retirement at the front of the list. */
async function retireOne({ url, organizationId, token }) {
  const base = `${url}/organizations/${organizationId}`;
  const { credits } = await send(`${base}/warehouse/inventory`, undefined, `Bearer ${token}`);
  const body = { creditId: credits[0].id, amount: 0.001 };
  const { id } = await send(`${base}/warehouse/inventory/reservations`, body, `Bearer ${token}`);
  const retirementData = { reason: 'benchmark', beneficiaryName: 'Benchmark' };
  await send(`${base}/warehouse/inventory/reservations/${id}/retire`, { retirementData }, `Bearer ${token}`);
}

/** One more tonne of a credit that the warehouse holds. */
async function deposit({ url, projectId }, organizationId) {
  const body = { organizationId, projectId, place: 'warehouse', amount: 1, vintage: '2023' };
  await send(`${url}/_sandbox/credits`, body);
}

function changeOneInHundred({ folder, organizationId }, comment) {
  const db = new Database(join(folder, 'sandbox.db'), { timeout: 10_000 });
  const { changes } = db
    .prepare(
      'UPDATE retirements SET comment = ? WHERE organization_id = ? AND is_claimed = 1 AND ordinal % 100 = 7',
    )
    .run(comment, organizationId);
  db.close();
  return changes;
}

async function floor({ url, organizationId, token }, work) {
  const [result] = await runChild('sync-floor.js', { url, organizationId, token, ...work });
  return result;
}

async function ours({ url, appId, privateKey }, work) {
  const results = await runChild('sync-child.js', { url, appId, privateKey, ...work });
  for (const result of results) blockMs = Math.max(blockMs, result.blockMs);
  return results;
}

async function runChild(script, work) {
  const child = spawn(process.execPath, [path(script), JSON.stringify(work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  let text = '';
  child.stdout.on('data', chunk => {
    text += chunk;
  });
  const [code] = await once(child, 'close');
  children.delete(child);
  if (code !== 0) throw new Error(`${script} ended with ${code}`);
  return text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}

/** As small a registry as can serve certificates of any size. */
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
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
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
  const url = `http://127.0.0.1:${server.address().port}`;
  const { privateKey } = keyPair();
  return {
    url,
    server,
    ids,
    appId: 'app-1',
    privateKey,
    organizationId,
    token: token.token,
    installations: [{ installationId, organizationId }],
  };
}

async function startServing({ url, appId, privateKey }, dataDir) {
  const child = spawn(
    process.execPath,
    [path('sync-child.js'), JSON.stringify({ url, appId, privateKey, dataDir, serve: true })],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  children.add(child);
  await once(child.stdout, 'data');
  return child;
}

async function stopServing(child) {
  child.kill('SIGTERM');
  const [line] = await once(child.stdout, 'data');
  return [JSON.parse(String(line))];
}

async function startDoor({ appId }, dataDir, secret) {
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    OPERATIONS_PORT: '0',
    REGISTRY_APP_ID: appId,
    WEBHOOK_SECRETS: secret,
    REGISTRY_BASE_URL: 'http://127.0.0.1:1',
  };
  const child = spawn(process.execPath, [path('../../dist/main.js'), 'receive'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const port = await new Promise((resolve, reject) => {
    const read = chunk => {
      const found = /"port":(\d+)/.exec(String(chunk));
      if (found) resolve(Number(found[1]));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', code => reject(new Error(`receive ended with ${code}`)));
  });
  return { child, url: `http://127.0.0.1:${port}/webhooks` };
}

async function post(url, secret, { appId }, { installationId, organizationId }) {
  const payload = {
    event: 'warehouseTransaction',
    installation: { id: installationId, appId, organization: { id: organizationId } },
  };
  const signedData = Buffer.from(JSON.stringify({ ...payload, nonce: Math.random() })).toString('base64');
  const signature = `sha256=${createHmac('sha256', secret).update(signedData).digest('hex')}`;
  const headers = { 'content-type': 'application/json', 'x-registry-signature-256': signature };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...payload, signedData }),
  });
  await response.arrayBuffer();
  if (response.status !== 202) throw new Error(`the receiver answered ${response.status}`);
}

async function until(holds, deadlineMs) {
  const end = performance.now() + deadlineMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error('waited in vain');
    await new Promise(resolve => setTimeout(resolve, 1));
  }
}

async function send(url, body, authorization) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...VERSION,
      accept: 'application/json',
      ...(authorization && { authorization }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

function keyPair() {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

function signJwt(appId, privateKey) {
  const now = Math.floor(Date.now() / 1000);
  const signed = [
    { alg: 'RS256', typ: 'JWT' },
    { iss: appId, iat: now - 60, exp: now + 300 },
  ]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
}

function freshDir() {
  return mkdtempSync(join(root, 'data-'));
}

function expectRun({ run }, column, value) {
  if (run?.state !== 'complete' || run[column] !== value)
    throw new Error(`expected a complete run with ${column} ${value}, got ${JSON.stringify(run)}`);
}

function ratio(name, { floor: floors, ours: times }, bound) {
  showRounds(`${name}: floor`, floors);
  showRounds(`${name}: ours`, times);
  check(name, best(times) / best(floors), 'times', value => value <= bound, `at most ${bound}`);
}

/** Neighbours on the machine can only add to a time: the best round says the most about the code. */
function best(values) {
  return Math.min(...values);
}

function showRounds(name, values) {
  process.stdout.write(
    `  ${name}: best ${best(values).toFixed(0)} ms of ${values.map(Math.round).join(', ')}\n`,
  );
}

function show(name, value, unit) {
  process.stdout.write(`  ${name}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit}\n`);
}

function check(name, value, unit, holds, bound) {
  show(`${name} (${bound})`, value, unit);
  if (!holds(value)) misses.push(`${name}: ${value.toFixed(2)} ${unit}, ${bound}`);
}
