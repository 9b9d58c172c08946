// The baseline of `npm run bench -- sync`. It does the least that a sync must do, with only the database driver of the program: it
// reads the same pages with the same concurrency, parses them, and inserts the rows into the same columns with the same indexes (unless
// the task is only to read). On SQLite it commits once per page. On PostgreSQL it commits once per 800 rows, which it sends as one array
// per column while the next pages are read. Argument: the task as JSON. Prints the measurement as JSON.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { openEngine } from '../../../dist/src/store/open-engine.js';
import { Database } from '../../../dist/src/store/sqlite/driver.js';

/**
 * @typedef {{
 *   id: string,
 *   project?: { id: string, fullName: string },
 *   serialization?: string,
 *   vintage?: string,
 *   amount: number,
 *   reason?: string,
 *   beneficiary?: string,
 *   comment?: string,
 *   isClaimed?: boolean,
 *   createdAt?: string,
 * }} Row
 * @typedef {{ retirements: Row[], pagination: { pageCount: number } }} Page
 * @typedef {{
 *   url: string,
 *   organizationId: string,
 *   token: string,
 *   work: 'read' | 'insert' | 'certificates',
 *   dataDir?: string,
 *   database?: string,
 *   concurrency?: number,
 *   ids?: string[],
 * }} FloorTask
 */

/** @type {FloorTask} */
const task = JSON.parse(process.argv[2] ?? '');
const { url, organizationId, token, work, dataDir = '', database, concurrency = 4, ids = [] } = task;
const LIMIT = 100;
const headers = {
  authorization: `Bearer ${token}`,
  accept: 'application/json',
  'x-registry-api-version': '2023-06-16',
};
const base = `${url}/organizations/${organizationId}`;
const SLICE = 800;
const COLUMNS = {
  version: 'bigint',
  organization_id: 'text',
  id: 'text',
  project_id: 'text',
  project_name: 'text',
  serialization: 'text',
  vintage: 'text',
  amount: 'double precision',
  amount_micro: 'bigint',
  amount_exact: 'text',
  fault: 'text',
  reason: 'text',
  beneficiary: 'text',
  comment: 'text',
  is_claimed: 'bigint',
  created_at: 'timestamptz',
  valid_from: 'timestamptz',
  sync_id: 'bigint',
  document: 'text',
};
const WORKS = {
  read: () => readPages(() => {}),
  insert: database === undefined ? insertPages : sendPages,
  certificates: fetchCertificates,
};
const indexes = work === 'insert' && database === undefined ? await listIndexes() : [];
const startedAt = performance.now();
const rows = await WORKS[work]();
process.stdout.write(`${JSON.stringify({ rows, ms: performance.now() - startedAt })}\n`);

/** @param {(rows: Row[]) => unknown} take */
async function readPages(take) {
  const first = await readPage(0);
  const pages = first.pagination.pageCount;
  await take(first.retirements);
  /** @type {Promise<Page>[]} */
  const pending = [];
  let next = 1;
  let rowsRead = first.retirements.length;
  const ask = () => {
    while (pending.length < concurrency && next < pages) pending.push(readPage(next++));
  };
  ask();
  for (let page = pending.shift(); page !== undefined; page = pending.shift()) {
    const { retirements } = await page;
    ask();
    await take(retirements);
    rowsRead += retirements.length;
  }
  return rowsRead;
}

/**
 * @param {number} page
 * @returns {Promise<Page>}
 */
async function readPage(page) {
  const response = await fetch(`${base}/retirements?limit=${LIMIT}&page=${page}`, { headers });
  return JSON.parse(await response.text());
}

async function insertPages() {
  const db = openDatabase();
  const insert = db.prepare(
    `INSERT INTO retirements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const validFrom = new Date().toISOString();
  let version = 0;
  const rowsRead = await readPages(retirements => {
    db.exec('BEGIN IMMEDIATE');
    for (const row of retirements) {
      version += 1;
      insert.run(...valuesOf(row, version, validFrom));
    }
    db.exec('COMMIT');
  });
  db.close();
  return rowsRead;
}

/**
 * @param {Row} row
 * @param {number} version
 * @param {string} validFrom
 */
function valuesOf(row, version, validFrom) {
  return [
    version,
    organizationId,
    row.id,
    row.project?.id ?? null,
    row.project?.fullName ?? null,
    row.serialization ?? null,
    row.vintage ?? null,
    row.amount,
    BigInt(Math.round(row.amount * 1e6)),
    String(row.amount),
    null,
    row.reason ?? null,
    row.beneficiary ?? null,
    row.comment ?? null,
    row.isClaimed === undefined ? null : Number(row.isClaimed),
    row.createdAt ?? null,
    validFrom,
    1,
    JSON.stringify(row),
  ];
}

/** Inserts into a table that is created like the mirror's own, with all its indexes. */
async function sendPages() {
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query('CREATE TABLE public.retirements (LIKE mirror.retirements INCLUDING ALL)');
  const names = Object.keys(COLUMNS);
  const types = Object.values(COLUMNS);
  const text = `INSERT INTO public.retirements (${names.join(', ')})
    SELECT * FROM unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`;
  const validFrom = new Date().toISOString();
  /** @type {unknown[][]} */
  let waiting = [];
  let version = 0;
  /** @type {Promise<unknown>} */
  let underWay = Promise.resolve();
  const send = async () => {
    const slice = waiting;
    waiting = [];
    await underWay;
    underWay = client.query(
      text,
      types.map((_, index) => slice.map(row => row[index])),
    );
  };
  const rowsRead = await readPages(async retirements => {
    for (const row of retirements) {
      version += 1;
      waiting.push(valuesOf(row, version, validFrom));
    }
    if (waiting.length >= SLICE) await send();
  });
  await send();
  await underWay;
  await client.end();
  return rowsRead;
}

async function fetchCertificates() {
  const folder = join(dataDir, 'floor-certificates');
  mkdirSync(folder, { recursive: true });
  const db = openDatabase();
  const insert = db.prepare('INSERT INTO certificates VALUES (?, ?, ?, ?, ?)');
  const waiting = [...ids];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        const response = await fetch(`${base}/retirements/${id}/pdf`, {
          headers: { ...headers, accept: 'application/octet-stream' },
        });
        const part = join(folder, `${id}.part`);
        const file = await open(part, 'wx', 0o600);
        const hash = createHash('sha256');
        let size = 0;
        for await (const chunk of response.body ?? []) {
          hash.update(chunk);
          size += chunk.length;
          await file.writeFile(chunk);
        }
        await file.sync();
        await file.close();
        const sha256 = hash.digest('hex');
        const name = `${id}-${sha256.slice(0, 12)}.pdf`;
        await rename(part, join(folder, name));
        const directory = await open(folder, 'r');
        await directory.sync();
        await directory.close();
        insert.run(organizationId, id, name, sha256, size);
      }
    }),
  );
  db.close();
  return ids.length;
}

/** Returns the SQL of the indexes that the mirror has for its retirements. */
async function listIndexes() {
  const folder = join(dataDir, 'schema');
  const engine = openEngine({ dataDir: folder, database: null, diskReserveMb: null });
  await engine.prepare(['mirror'], Date.now(), () => undefined);
  const db = new Database(join(folder, 'mirror.db'), { readonly: true });
  const statements = db
    .prepare(
      `SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'retirements' AND sql IS NOT NULL`,
    )
    .pluck()
    .all();
  db.close();
  if (statements.length === 0) throw new Error('expected indexes of retirements');
  return statements;
}

function openDatabase() {
  const db = new Database(join(dataDir, 'floor.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.exec(`CREATE TABLE IF NOT EXISTS retirements (
    version INTEGER PRIMARY KEY, organization_id TEXT NOT NULL, id TEXT NOT NULL, project_id TEXT, project_name TEXT,
    serialization TEXT, vintage TEXT, amount REAL, amount_micro INTEGER, amount_exact TEXT, fault TEXT, reason TEXT,
    beneficiary TEXT, comment TEXT, is_claimed INTEGER, created_at TEXT, valid_from TEXT NOT NULL,
    sync_id INTEGER NOT NULL, document TEXT NOT NULL, UNIQUE (organization_id, id)) STRICT;
    CREATE TABLE IF NOT EXISTS certificates (organization_id TEXT, retirement_id TEXT, file TEXT, sha256 TEXT, size INTEGER)`);
  for (const statement of indexes) db.exec(String(statement));
  return db;
}
