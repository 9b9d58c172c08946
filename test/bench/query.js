// npm run bench -- query: what people wait for, on a mirror of 1,000,000 retirements (ROWS sets another number), and the
// time from the start of `receive` and of `work` until each is ready.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { migrateFile } from '../../dist/engines/sqlite/migrate.js';
import { openBoth } from '../../dist/engines/sqlite/open-both.js';
import { openDatabase } from '../../dist/engines/sqlite/open.js';
import { openReader } from '../../dist/engines/sqlite/reader.js';
import { createMirrorPort } from '../../dist/engines/sqlite/mirror/direct.js';
import { createMirror } from '../../dist/mirror/create-mirror.js';
import { readStatus } from '../../dist/query/reads/status.js';
import { MAIN, start, withFolder } from './parts/children.js';
import { createFigures, median, timed } from './parts/figures.js';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const ORGANIZATIONS = 4;
const QUERY_MS = { atMost: 200 };
const STATUS_MS = { atMost: 450 };
const READY_MS = { atMost: 800 };
const TIMES = 5;
const DOCUMENT = readFileSync(new URL('../../docs/queries.md', import.meta.url), 'utf8');

const { show, demand, end } = createFigures();
await withFolder(async folder => {
  await fill(folder);
  await measureQueries(folder);
  await measureCommands(folder);
  await measureReady('receive', folder);
  await measureReady('work', folder);
});
end();

async function fill(folder) {
  const now = new Date().toISOString();
  for (const family of ['inbox', 'mirror']) migrateFile(join(folder, `${family}.db`), family, now);
  const db = openDatabase(join(folder, 'mirror.db'), { busyTimeoutMs: 5000 });
  db.pragma('synchronous = OFF');
  const mirror = createMirror(createMirrorPort(db, join(folder, 'certificates')), Date.now);
  const started = performance.now();
  for (let n = 0; n < ORGANIZATIONS; n++) await fillOrganization(mirror, `organization-${n}`);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  show('retirements mirrored', ROWS, 'rows');
  show('filled in', (performance.now() - started) / 1000, 's');
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

async function measureQueries(folder) {
  process.stdout.write('\nqueries of docs/queries.md, medians\n');
  const files = { mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') };
  const queries = [...DOCUMENT.matchAll(/^```sql\n([\s\S]*?)^```$/gm)];
  if (queries.length === 0) throw new Error('expected queries in docs/queries.md, found none');
  for (const [, sql] of queries) {
    const db = openBoth(files);
    const statement = db.prepare(sql);
    const name = sql.replace(/\s+/g, ' ').slice(0, 70);
    demand(name, await middle(() => statement.all()), 'ms', QUERY_MS);
    db.close();
  }
  const reader = openReader(files);
  demand(
    'the queries of status, all of them',
    await middle(() => readStatus(reader, Date.now())),
    'ms',
    QUERY_MS,
  );
  await reader.close();
}

async function measureCommands(folder) {
  process.stdout.write('\ncommands, medians\n');
  const env = { DATA_DIR: folder };
  const run = argv => middle(() => execFileSync(process.execPath, argv, { env, stdio: 'pipe' }));
  show('node itself', await run(['-e', '0']), 'ms');
  demand('carbon-mirror status', await run([MAIN, 'status']), 'ms', STATUS_MS);
  show('carbon-mirror available', await run([MAIN, 'available']), 'ms');
  const sql = 'select count(*) from installations';
  show(`carbon-mirror query "${sql}"`, await run([MAIN, 'query', sql]), 'ms');
}

async function measureReady(role, folder) {
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
    const child = start([MAIN, role], { env, stdio: 'ignore' });
    while (!(await isReady(port))) await new Promise(resolve => setTimeout(resolve, 2));
    times.push(performance.now() - started);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  demand(`start of ${role} until readyz answers`, median(times), 'ms', READY_MS);
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

async function middle(work) {
  const times = [];
  for (let n = 0; n < TIMES; n++) times.push(await timed(work));
  return median(times);
}
