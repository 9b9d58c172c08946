// npm run bench -- api: measures pages of the HTTP API beside the bare query, alternated, on a mirror of 1,000,000 retirements (ROWS sets
// another number). The bare query reads the rows of the same page in this process, and counts what the page counts.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { openReader } from '../../dist/src/store/sqlite/reader.js';
import { RETIREMENTS } from '../../dist/src/query/lists/list-definitions.js';
import { parseListRequest } from '../../dist/src/query/lists/parse-request.js';
import { readPage } from '../../dist/src/query/lists/read-rows.js';
import { MAIN, start, withFolder } from './parts/children.js';
import { createFigures, timed } from './parts/figures.js';
import { install, read, retirement, withWriters } from './parts/fill-mirror.js';
import { chooseSize } from './parts/size.js';

const ROWS = chooseSize({ name: 'ROWS', usual: 1_000_000, smallest: 400 });
const ORGANIZATIONS = 4;
const PAGES = chooseSize({ usual: 500, smallest: 5 });
const LIMIT = 100;
/** The bound for the time of a page, as a multiple of the time of its bare query. */
const RATIO = { atMost: 2 };

const { show, demand, end } = createFigures();
await withFolder(async folder => {
  await fill(folder);
  const token = execFileSync(process.execPath, [MAIN, 'tokens', 'create', 'bench'], {
    env: { DATA_DIR: folder },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  const child = start([MAIN, 'api'], {
    env: { DATA_DIR: folder, API_PORT: '0', OPERATIONS_PORT: '0', API_REQUESTS_PER_MINUTE: '1000000' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await readPort(child);
  await measurePages(folder, `http://127.0.0.1:${port}/v1/retirements`, token);
  child.kill();
  await once(child, 'exit');
});
end();

/** @param {string} folder */
async function fill(folder) {
  const engine = openEngine({ dataDir: folder, database: null, diskReserveMb: null });
  await withWriters(engine, 0, async stage => {
    for (let n = 0; n < ORGANIZATIONS; n++) {
      await install(stage, `organization-${n}`);
      await read(stage, `organization-${n}`, 'retirements', ROWS / ORGANIZATIONS, retirement);
    }
  });
  show('retirements mirrored', ROWS, 'rows');
}

/**
 * Returns the port that the API logs when it listens.
 * @param {import('node:child_process').ChildProcess} child
 */
async function readPort({ stdout }) {
  if (stdout === null) throw new Error('expected the log of the API');
  for await (const line of createInterface({ input: stdout })) {
    const { msg, port } = JSON.parse(line);
    if (msg === 'API listening') {
      stdout.resume();
      return port;
    }
  }
  throw new Error('the API ended before it listened');
}

/**
 * @param {string} folder
 * @param {string} url
 * @param {string} token
 */
async function measurePages(folder, url, token) {
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  const request = await parseListRequest(reader, RETIREMENTS, {
    getText: () => null,
    at: null,
    now: Date.now(),
  });
  if ('fault' in request) throw new Error(request.fault);
  /** @type {number[]} */
  const served = [];
  /** @type {number[]} */
  const bare = [];
  let cursor = '';
  /** @type {readonly import('../../dist/src/store/contract/tables.js').Value[] | null} */
  let after = null;
  for (let n = 0; n < PAGES; n++) {
    bare.push(
      await timed(async () => {
        ({ next: after } = await readPage(reader, { ...request, after, limit: LIMIT }));
      }),
    );
    served.push(
      await timed(async () => {
        const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' };
        const response = await fetch(`${url}?limit=${LIMIT}${cursor}`, { headers });
        const { next } = JSON.parse(await response.text());
        cursor = next === null ? '' : `&after=${next}`;
      }),
    );
    if (cursor === '') after = null;
  }
  await reader.close();
  for (const share of [50, 99]) {
    show(`bare query of a page, p${share}`, percentile(bare, share), 'ms');
    show(`page of the API, p${share}`, percentile(served, share), 'ms');
  }
  demand('page of the API / bare query, p99', percentile(served, 99) / percentile(bare, 99), '', RATIO);
}

/**
 * @param {readonly number[]} values
 * @param {number} share
 */
function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? 0;
}
