// npm run bench -- console [--engine postgres]: measures each page of the console over 1,000,000 retirements of 4 organizations (ROWS and
// ORGANIZATIONS set other numbers) against its bare SQL statements; the size of the first page; and memory after 1,000 visits
// while 50 pages follow live updates.
import { join } from 'node:path';
import { Client } from 'pg';
import { parseTimeRange } from '../../dist/src/text/time-range.js';
import { createPages } from '../../dist/src/console/pages/all-pages.js';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { openDatabase } from '../../dist/src/store/sqlite/open-database.js';
import { withFolder } from './parts/children.js';
import { freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { createFigures, median, peakMegabytes, timed } from './parts/figures.js';
import { credit, install, read, retirement, withWriters } from './parts/fill-mirror.js';
import { chooseSize } from './parts/size.js';
import { FIRST_PAGE, openConsole } from './parts/visitor.js';

/** @import { Engine } from '../../dist/src/store/engine.js' */
/** @import { Retirement } from '../../dist/src/registry/object-models.js' */
/** @import { Reader } from '../../dist/src/store/contract/reader.js' */
/** @import { Stage } from './parts/fill-mirror.js' */
/** @import { Settings } from './parts/engine.js' */
/** @typedef {Awaited<ReturnType<typeof openConsole>>} Visitor */
/** @typedef {{ run: (sql: string, values: readonly unknown[]) => unknown, close: () => unknown }} Bare */

const { engine: name } = readArguments();
const ROWS = chooseSize({ name: 'ROWS', usual: 1_000_000, smallest: 400 });
const ORGANIZATIONS = chooseSize({ name: 'ORGANIZATIONS', usual: 4, smallest: 4 });
/** Credits of each organization. */
const CREDITS = Math.max(4, chooseSize({ usual: 20_000, smallest: 40 }) / ORGANIZATIONS);
/** Pages of the delivery and the job number 4711 are visited. */
const DELIVERIES = chooseSize({ usual: 100_000, smallest: 5_000 });
const OWNER = 'organization-0';
const RETIREMENT = `${OWNER}-retirement-${Math.min(4711, ROWS / ORGANIZATIONS - 1)}`;
const FIRST_READ_DAYS = 30;
const SECOND_READ_DAYS = 2;
const DAY_MS = 86_400_000;
const TIMES = chooseSize({ usual: 100, smallest: 1 });
/** How often each page that may take a second is measured. */
const SLOW_TIMES = chooseSize({ usual: 20, smallest: 1 });
const BARE_EVERY = 10;
const VISITS = chooseSize({ usual: 1_000, smallest: 50 });
/** Rounds over all pages; later rounds leave out the slow pages. */
const ROUNDS = 3;
const LIVE = 50;
const PAGE_MS = { atMost: 100 };
const SLOW_MS = { atMost: 1_000 };
/** A page that sums all rows of an organization as of an instant reads each row from its table: no index has the start of its validity. */
const PAST_SUM_MS = { atMost: 100 + ROWS / ORGANIZATIONS / 200 };
const FIRST_BYTES = { atMost: 60_000 };
const MEMORY_MB = { atMost: 300 };

const NUMBERS = `(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${DELIVERIES})
  SELECT n FROM numbers) AS numbers`;
const NOON = "'2026-01-01T12:00:00.000Z'";
/** One delivery per second. */
const ARRIVED = {
  sqlite: `strftime('%Y-%m-%dT%H:%M:%fZ', ${NOON}, n || ' seconds')`,
  postgres: `${NOON}::timestamptz + n * interval '1 second'`,
};
const MIRROR = name === 'postgres' ? 'mirror.' : '';
const ENTERED = [
  `INSERT INTO inbox.deliveries (id, received_at, event, installation_id, signed_text_sha256, stored_text_id, verdict, secret_index, job_id)
   SELECT n, ${ARRIVED[name]}, 'warehouseTransaction', 'of-organization-' || n % 4, '', n, 'accepted', 0, n FROM ${NUMBERS}`,
  `INSERT INTO inbox.jobs (id, kind, organization_id, installation_id, dedupe_key, trigger, state, attempts, run_at, started_at, finished_at, created_at, outcome)
   SELECT n, 'installation', 'organization-' || n % 4, 'of-organization-' || n % 4, 'job ' || n, 'delivery', 'done', 1, ${NOON}, ${NOON}, ${NOON}, ${NOON}, 'read' FROM ${NUMBERS}`,
  /** All lists were read a moment ago and stay fresh for long. */
  `INSERT INTO ${MIRROR}origin (only_row, base_url, app_id, schedule_seconds, created_at, worker_seen_at)
   VALUES (1, 'http://registry', 'app-1', 86400, ${NOON}, ${NOON})`,
  `UPDATE ${MIRROR}resource_states SET as_of = '${new Date().toISOString()}', outcome = 'complete'`,
  'ANALYZE',
];

/** A page, the pattern of its address, and the time it may take. Rows without an index load after their page. */
/** @type {readonly [string, string, { atMost: number }?][]} */
const VISITED = [
  ['/', '/'],
  ['/changes', '/changes'],
  ['/changes?since=7d', '/changes'],
  [`/changes?since=7d&organization_id=${OWNER}`, '/changes'],
  ['/organizations', '/organizations'],
  [`/organizations/${OWNER}`, '/organizations/:id'],
  ['/warehouse', '/warehouse'],
  [`/warehouse?organization_id=${OWNER}&vintage=2018`, '/warehouse'],
  ['/retirements', '/retirements'],
  [`/retirements?organization_id=${OWNER}`, '/retirements'],
  ['/retirements?beneficiary=Beneficiary+4711', '/retirements', SLOW_MS],
  ['/retirements?vintage=2018&project_id=project-3', '/retirements', SLOW_MS],
  ['/retirements?id=nothing', '/retirements'],
  ['/retirements?as-of=7d', '/retirements', SLOW_MS],
  [`/retirements?as-of=7d&organization_id=${OWNER}`, '/retirements', SLOW_MS],
  [`/retirements/${RETIREMENT}`, '/retirements/:id'],
  ['/certificates', '/certificates'],
  ['/certificates?state=unavailable', '/certificates'],
  ['/projects', '/projects'],
  ['/deliveries', '/deliveries'],
  ['/deliveries?event=uninstalled', '/deliveries'],
  ['/deliveries/4711', '/deliveries/:id'],
  ['/jobs', '/jobs'],
  ['/jobs?state=failed', '/jobs'],
  ['/jobs?trigger=person', '/jobs'],
  ['/jobs/4711', '/jobs/:id'],
  ['/syncs', '/syncs'],
  [`/search?q=${RETIREMENT}`, '/search', SLOW_MS],
  ['/search?q=Northern+Rail', '/search', SLOW_MS],
  ['/search?q=nothing+has+this', '/search', SLOW_MS],
  ['/?as-of=7d', '/', SLOW_MS],
  [`/organizations/${OWNER}?as-of=7d`, '/organizations/:id', PAST_SUM_MS],
  ['/help', '/help'],
];

const { show, demand, end } = createFigures();
if (name === 'sqlite') await withFolder(async folder => await measure({ dataDir: folder, database: null }));
else {
  await withPostgres(async server =>
    withFolder(async folder => {
      const url = await freshDatabase(server);
      await measure({ dataDir: folder, database: { url, queryUrl: null, pool: null } });
    }),
  );
}
end();

/** @param {Settings} settings */
async function measure({ dataDir, database }) {
  const engine = openEngine({ dataDir, database, diskReserveMb: null });
  const filled = await timed(() => fill(engine));
  const bare = await openBare(dataDir, database);
  for (const statement of ENTERED) await bare.run(statement, []);
  show(`retirements mirrored, ${name}`, ROWS, 'rows');
  show('organizations', ORGANIZATIONS, '');
  show('filled in', filled / 1000, 's');
  const visitor = await openConsole(dataDir, database);
  const reader = await engine.openReader();
  await measureFirst(visitor);
  for (const [path, pattern, bound = PAGE_MS] of VISITED) {
    const statements = await statementsOf(reader, path, pattern);
    await measurePage(visitor, path, bound, async () => {
      for (const sql of statements) await bare.run(sql, []);
    });
  }
  await measureMemory(visitor);
  await reader.close();
  await bare.close();
}

/**
 * Fills the mirror, and then changes one in twenty retirements of one organization.
 * @param {Engine} engine
 */
async function fill(engine) {
  await withWriters(engine, FIRST_READ_DAYS, async stage => {
    for (let n = 0; n < ORGANIZATIONS; n++) await fillFirst(stage, `organization-${n}`);
    stage.clock.at = Date.now() - SECOND_READ_DAYS * DAY_MS;
    /** @type {(id: string, n: number) => Retirement} */
    const changed = (id, n) => retirement(id, n, n % 20 === 7 ? 'Northern Rail' : undefined);
    await read(stage, OWNER, 'retirements', ROWS / ORGANIZATIONS, changed);
  });
}

/**
 * @param {Stage} stage
 * @param {string} id
 */
async function fillFirst(stage, id) {
  await install(stage, id);
  await read(stage, id, 'warehouse', CREDITS, credit);
  await read(stage, id, 'retirements', ROWS / ORGANIZATIONS, retirement);
}

/**
 * Opens a connection that runs statements with the driver alone.
 * @param {string} dataDir
 * @param {Settings['database']} database
 * @returns {Promise<Bare>}
 */
async function openBare(dataDir, database) {
  if (database === null) {
    const db = openDatabase(join(dataDir, 'mirror.db'), { busyTimeoutMs: 5000 });
    db.prepare('ATTACH DATABASE ? AS inbox').run(join(dataDir, 'inbox.db'));
    /** @type {Bare['run']} */
    const run = (sql, values) => {
      const statement = db.prepare(sql);
      return statement.reader ? statement.all(...values) : statement.run(...values);
    };
    return { run, close: () => db.close() };
  }
  const client = new Client({ connectionString: database.url });
  // If the measurement failed, the server may end first; that error is not the one to report.
  client.on('error', () => undefined);
  await client.connect();
  return { run: (sql, values) => client.query(sql, [...values]), close: () => client.end() };
}

/**
 * Returns the statements of a page, in the form in which a person can run them.
 * @param {Reader} reader
 * @param {string} path
 * @param {string} pattern
 */
async function statementsOf(reader, path, pattern) {
  /** @type {Set<string>} */
  const statements = new Set();
  /** @type {(reader: Reader) => Reader} */
  const watch = ({ all, stream, inSnapshot, formatQuery, asText }) => ({
    all: statement => all(note(statement)),
    stream: statement => stream(note(statement)),
    inSnapshot: work => inSnapshot(inside => work(watch(inside))),
    formatQuery,
    asText,
  });
  /** @type {<Statement extends Parameters<Reader['formatQuery']>[0]>(statement: Statement) => Statement} */
  const note = statement => (statements.add(reader.formatQuery(statement)), statement);
  const now = Date.now();
  const { pathname, searchParams: query } = new URL(path, 'http://console');
  const page = createPages().find(each => each.path === pattern);
  if (page === undefined) throw new Error(`there is no page ${pattern}`);
  const asOf = query.get('as-of');
  const span = asOf === null ? null : parseTimeRange(asOf, now);
  const at = span !== null && 'until' in span ? span.until : null;
  const about = {
    now,
    query,
    at,
    canAct: true,
    canOrder: false,
    webhookUrl: null,
    version: '0.0.0',
    comparison: null,
    inspectFile: async () => null,
    findContradictedColumns: () => [],
    describeCheckpoint: async () => null,
    origin: 'http://console',
    pageToken: '',
    isDemo: false,
  };
  const params = { id: decodeURIComponent(pathname.split('/')[2] ?? '') };
  const shown = await page.render({ ...about, params, reader: watch(reader) });
  if ('renderRest' in shown) await shown.renderRest?.();
  return [...statements];
}

/** @param {Visitor} visitor */
async function measureFirst({ receive }) {
  const parts = await Promise.all(FIRST_PAGE.map(receive));
  const bytes = parts.map(part => part.bytes);
  demand('the first page with its style and script, compressed as sent', sum(bytes), 'bytes', FIRST_BYTES);
}

/**
 * Visits a page repeatedly, and runs its bare statements in between.
 * @param {Visitor} visitor
 * @param {string} path
 * @param {{ atMost: number }} bound
 * @param {() => Promise<void>} runBare runs the statements of the page without the page
 */
async function measurePage({ open }, path, bound, runBare) {
  const times = [];
  const bare = [];
  for (let time = 0; time < (bound === PAGE_MS ? TIMES : SLOW_TIMES); time++) {
    times.push(await timed(async () => await visit(open, path)));
    if (time % BARE_EVERY === 0) bare.push(await timed(runBare));
  }
  show(`${path}: median`, median(times), 'ms');
  show('its bare queries', median(bare), 'ms');
  demand(`${path}: p99`, percentile99(times), 'ms', bound);
}

/**
 * @param {Visitor['open']} open
 * @param {string} path
 */
async function visit(open, path) {
  const answer = await open(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return await answer.text();
}

/** @param {Visitor} visitor */
async function measureMemory({ open, pid }) {
  const gone = new AbortController();
  for (let n = 0; n < LIVE; n++) await open('/live', { signal: gone.signal });
  const quick = VISITED.filter(([, , bound]) => bound === undefined);
  for (let n = 0; n < VISITS; n++) {
    const pages = n < ROUNDS * VISITED.length ? VISITED : quick;
    await visit(open, pages[n % pages.length]?.[0] ?? '/');
  }
  demand(`peak after ${VISITS} visits with ${LIVE} pages that follow`, peakMegabytes(pid), 'MB', MEMORY_MB);
  gone.abort();
}

/** @param {readonly number[]} times */
function percentile99(times) {
  return times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.99) - 1] ?? NaN;
}

/** @param {readonly number[]} values */
function sum(values) {
  return values.reduce((all, value) => all + value, 0);
}
