// npm run bench -- query: measures the commands that people wait for, on a mirror of 1,000,000 retirements (ROWS sets another number), and the
// time from the start of `receive` and of `work` until each is ready.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { openReadOnly } from '../../dist/src/store/sqlite/open-read-only.js';
import { openReader } from '../../dist/src/store/sqlite/reader.js';
import { readStatus } from '../../dist/src/query/status.js';
import { MAIN, start, withFolder } from './parts/children.js';
import { createFigures, median, timed } from './parts/figures.js';
import { portOf } from './parts/registry.js';
import { credit, install, read, retirement, withWriters } from './parts/fill-mirror.js';
import { chooseSize } from './parts/size.js';

const ROWS = chooseSize({ name: 'ROWS', usual: 1_000_000, smallest: 400 });
const ORGANIZATIONS = 4;
const CREDITS = chooseSize({ usual: 5_000, smallest: 20 });
const QUERY_MS = { atMost: 200 };
/** Sums over all retirements are computed on request. */
const SUMS_MS = { atMost: 1500 };
const STATUS_MS = { atMost: 450 };
const READY_MS = { atMost: 800 };
const TIMES = chooseSize({ usual: 5, smallest: 1 });
const DOCUMENT = readFileSync(new URL('../../docs/sql.md', import.meta.url), 'utf8');

const { show, demand, end } = createFigures();
await withFolder(async folder => {
  await fill(folder);
  await measureQueries(folder);
  await measureCommands(folder);
  await measureReady('receive', folder);
  await measureReady('work', folder);
});
end();

/** @param {string} folder */
async function fill(folder) {
  const engine = openEngine({ dataDir: folder, database: null, diskReserveMb: null });
  const filled = await timed(() =>
    withWriters(engine, 0, async stage => {
      for (let n = 0; n < ORGANIZATIONS; n++) {
        const id = `organization-${n}`;
        await install(stage, id);
        await read(stage, id, 'warehouse', CREDITS, credit);
        await read(stage, id, 'retirements', ROWS / ORGANIZATIONS, retirement);
      }
    }),
  );
  show('retirements mirrored', ROWS, 'rows');
  show('filled in', filled / 1000, 's');
}

/** @param {string} folder */
async function measureQueries(folder) {
  process.stdout.write('\nqueries of docs/sql.md, medians\n');
  const files = { mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') };
  const queries = [...DOCUMENT.matchAll(/^```sql\n([\s\S]*?)^```$/gm)];
  if (queries.length === 0) throw new Error('expected queries in docs/sql.md, found none');
  for (const [, sql = ''] of queries) {
    const db = openReadOnly(files);
    const statement = db.prepare(sql);
    const name = sql.replace(/\s+/g, ' ').slice(0, 70);
    const addsUp = /from retirements_by_/.test(sql);
    demand(name, await middle(() => statement.all()), 'ms', addsUp ? SUMS_MS : QUERY_MS);
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

/** @param {string} folder */
async function measureCommands(folder) {
  process.stdout.write('\ncommands, medians\n');
  const env = { DATA_DIR: folder };
  /** @type {(argv: readonly string[]) => Promise<number>} */
  const run = argv =>
    middle(() => execFileSync(process.execPath, argv, { env, stdio: 'pipe', maxBuffer: 64e6 }));
  show('node itself', await run(['-e', '0']), 'ms');
  demand('carbon-mirror status', await run([MAIN, 'status']), 'ms', STATUS_MS);
  show('carbon-mirror available', await run([MAIN, 'available']), 'ms');
  const sql = 'select count(*) from installations';
  show(`carbon-mirror query "${sql}"`, await run([MAIN, 'query', sql]), 'ms');
}

/**
 * @param {'receive' | 'work'} role
 * @param {string} folder
 */
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

/** @param {number} port */
async function isReady(port) {
  return await fetch(`http://127.0.0.1:${port}/readyz`).then(
    answer => answer.ok,
    () => false,
  );
}

async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = portOf(server);
  await once(server.close(), 'close');
  return port;
}

/** @param {() => unknown} work */
async function middle(work) {
  const times = [];
  for (let n = 0; n < TIMES; n++) times.push(await timed(work));
  return median(times);
}
