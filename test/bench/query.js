// npm run bench -- query: what people wait for, on a mirror of 1,000,000 retirements (ROWS sets another number), and the
// time from the start of `receive` and of `work` until each is ready.
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrateFile } from '../../dist/engines/sqlite/migrate.js';
import { openBoth } from '../../dist/engines/sqlite/open-both.js';
import { openDatabase } from '../../dist/engines/sqlite/open.js';
import { createMirrorPort } from '../../dist/engines/sqlite/mirror/direct.js';
import { createMirror } from '../../dist/mirror/mirror.js';
import { readStatus } from '../../dist/query/status.js';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const ORGANIZATIONS = 4;
const QUERY_MS = 200;
const STATUS_MS = 450;
const READY_MS = 800;
const TIMES = 5;

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-bench-'));
const missed = [];

try {
  await fill();
  measureQueries();
  measureStatus();
  await measureReady('receive');
  await measureReady('work');
} finally {
  rmSync(folder, { recursive: true });
}
for (const line of missed) process.stdout.write(`MISSED ${line}\n`);
process.exitCode = missed.length > 0 ? 1 : 0;

async function fill() {
  const now = new Date().toISOString();
  for (const family of ['inbox', 'mirror']) migrateFile(join(folder, `${family}.db`), family, now);
  const db = openDatabase(join(folder, 'mirror.db'), { busyTimeoutMs: 5000 });
  db.pragma('synchronous = OFF');
  const mirror = createMirror(createMirrorPort(db, join(folder, 'certificates')), Date.now);
  const started = performance.now();
  for (let n = 0; n < ORGANIZATIONS; n++) await fillOrganization(mirror, `organization-${n}`);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  print('retirements mirrored', ROWS, 'rows');
  print('filled in', (performance.now() - started) / 1000, 's');
}

async function fillOrganization(mirror, organizationId) {
  const run = { claim: 1, trigger: 'delivery', startedAt: Date.now(), arrivedAt: Date.now() };
  const installation = {
    id: `of-${organizationId}`,
    appId: 'app-1',
    organizationId,
    organization: null,
    permissions: { organization_info: 'VIEW', organization_warehouse: 'WRITE' },
    createdAt: null,
    updatedAt: null,
    document: '{}',
  };
  await mirror.writeInstallation({ ...run, installation, state: 'active' });
  await read(mirror, organizationId, 'warehouse', run, 5_000, credit);
  await read(mirror, organizationId, 'retirements', run, ROWS / ORGANIZATIONS, retirement);
}

async function read(mirror, organizationId, resource, run, rows, make) {
  const reading = await mirror.beginRead({ ...run, organizationId, resource, announced: true });
  const size = resource === 'warehouse' ? rows : 100;
  for (let page = 0; page * size < rows; page++) {
    const items = Array.from({ length: Math.min(size, rows - page * size) }, (_, n) =>
      make(organizationId, page * size + n),
    );
    const { arrivedAt } = run;
    await (resource === 'warehouse'
      ? reading.writeBatch(items, arrivedAt)
      : reading.writePage(page, items, arrivedAt));
  }
  await reading.finish({ total: rows, requests: 1, bytes: 1 });
}

function common(organizationId, n) {
  return {
    organizationId,
    project: { id: `project-${n % 40}`, fullName: `Project ${n % 40}` },
    serialization: `ICR-ISL-354-1-${n % 40}-R-0-${2015 + (n % 8)}`,
    vintage: String(2015 + (n % 8)),
    amount: {
      exact: `${n % 500}.25`,
      value: (n % 500) + 0.25,
      micro: BigInt((n % 500) * 1_000_000 + 250_000),
      fault: null,
    },
  };
}

function retirement(organizationId, n) {
  const item = {
    ...common(organizationId, n),
    id: `${organizationId}-retirement-${n}`,
    reason: 'Voluntary purposes',
    beneficiary: n % 20 === 0 ? null : `Beneficiary ${n % 5_000}`,
    comment: null,
    isClaimed: n % 20 !== 0,
    createdAt: new Date(Date.UTC(2018, n % 96, 1 + (n % 28))).toISOString(),
  };
  return { ...item, document: JSON.stringify({ ...item, amount: item.amount.value }) };
}

function credit(organizationId, n) {
  const item = {
    ...common(organizationId, n),
    creditId: `exPost-${n}-0x00`,
    inventoryId: null,
    type: 'exPost',
    tokenId: null,
    tokenAddress: null,
    unit: 'tonne',
  };
  return { ...item, document: JSON.stringify({ ...item, amount: item.amount.value }) };
}

function measureQueries() {
  process.stdout.write(`\nexample queries of README (each at most ${QUERY_MS} ms, the median of ${TIMES})\n`);
  const files = { mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') };
  for (const [, sql] of README.matchAll(/^```sql\n([\s\S]*?)^```$/gm)) {
    const db = openBoth(files);
    const statement = db.prepare(sql);
    const name = sql.replace(/\s+/g, ' ').slice(0, 70);
    limit(
      name,
      median(() => statement.all()),
      'ms',
      QUERY_MS,
    );
    db.close();
  }
  const db = openBoth(files);
  limit(
    'the queries of status, all of them',
    median(() => readStatus(db, Date.now())),
    'ms',
    QUERY_MS,
  );
  db.close();
}

function measureStatus() {
  process.stdout.write(`\ncommands (the median of ${TIMES})\n`);
  const run = argv =>
    execFileSync(process.execPath, [MAIN, ...argv], { env: { DATA_DIR: folder }, stdio: 'pipe' });
  print(
    'node itself',
    median(() => execFileSync(process.execPath, ['-e', '0'])),
    'ms',
  );
  limit(
    'carbon-mirror status',
    median(() => run(['status'])),
    'ms',
    STATUS_MS,
  );
  print(
    'carbon-mirror available',
    median(() => run(['available'])),
    'ms',
  );
  print(
    'carbon-mirror query "select count(*) from installations"',
    median(() => run(['query', 'select count(*) from installations'])),
    'ms',
  );
}

async function measureReady(role) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const times = [];
  for (let n = 0; n < TIMES; n++) {
    const port = await freePort();
    const env = {
      DATA_DIR: folder,
      PORT: '0',
      OPERATIONS_PORT: String(port),
      REGISTRY_APP_ID: 'app-1',
      REGISTRY_BASE_URL: 'http://127.0.0.1:9',
      ...(role === 'receive'
        ? { WEBHOOK_SECRETS: 'a secret of the benchmark' }
        : { REGISTRY_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }),
    };
    const started = performance.now();
    const child = spawn(process.execPath, [MAIN, role], { env, stdio: 'ignore' });
    while (!(await isReady(port))) await new Promise(resolve => setTimeout(resolve, 2));
    times.push(performance.now() - started);
    child.kill('SIGKILL');
    await new Promise(resolve => child.once('exit', resolve));
  }
  limit(`start of ${role} until readyz answers`, middle(times), 'ms', READY_MS);
}

async function isReady(port) {
  return await fetch(`http://127.0.0.1:${port}/readyz`).then(
    answer => answer.ok,
    () => false,
  );
}

async function freePort() {
  const server = createServer();
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise(resolve => server.close(resolve));
  return port;
}

function median(work) {
  const times = Array.from({ length: TIMES }, () => {
    const started = performance.now();
    work();
    return performance.now() - started;
  });
  return middle(times);
}

function middle(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}

function limit(name, value, unit, most) {
  print(name, value, unit);
  if (value > most) missed.push(`${name}: ${value.toFixed(0)} ${unit}, at most ${most}`);
}

function print(name, value, unit) {
  process.stdout.write(
    `  ${name}: ${Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1)} ${unit}\n`,
  );
}
