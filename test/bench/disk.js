// npm run bench -- disk [--engine postgres]: measures how much disk a fleet takes if nothing changes. The schedule reads the lists of 1,000
// organizations (ORGANIZATIONS sets another number) for 90 simulated days (DAYS). The code of the worker writes jobs, records of reads
// and sealed evidence, without a registry.
//
// To save time, lists are read twice a day instead of 96 times, because further reads of a day only raise counts. Only the first days
// (READ_DAYS) and the last one are read. The records of the days in between are copied from a day that was read, and then sealed.
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openLastSignedFile, createKeyFile } from '../../dist/src/evidence/key-file.js';
import { sealLog } from '../../dist/src/evidence/seal.js';
import { createInstallationJob } from '../../dist/src/inbox/job.js';
import { createMirror } from '../../dist/src/mirror/create-mirror.js';
import { LIST_RESOURCES, LISTS } from '../../dist/src/resources/lists.js';
import { Database } from '../../dist/src/store/sqlite/driver.js';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { enqueueTick } from '../../dist/src/sync/schedule/tick-schedule.js';
import { withFolder } from './parts/children.js';
import { withConnection, freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { createFigures, peakMegabytes } from './parts/figures.js';
import { credit, install, retirement } from './parts/fill-mirror.js';
import { chooseSize } from './parts/size.js';

/** @import { InboxPort } from '../../dist/src/inbox/port.js' */
/** @import { ClaimedJob } from '../../dist/src/inbox/job.js' */
/** @import { ListResource } from '../../dist/src/resources/lists.js' */
/** @import { Settings } from './parts/engine.js' */
/** @import { Stage } from './parts/fill-mirror.js' */
/** @typedef {Record<string, number>} Megabytes by database or schema */

const ORGANIZATIONS = chooseSize({ name: 'ORGANIZATIONS', usual: 1_000, smallest: 5 });
const DAYS = chooseSize({ name: 'DAYS', usual: 90, smallest: 3 });
const READ_DAYS = chooseSize({ name: 'READ_DAYS', usual: 2, smallest: 2 });
const ROUNDS = 2;
/** Bounds in MB for 1,000 organizations and 90 days. */
const BOUNDS = { sqlite: 550, postgres: 800 };
const SHARE = (ORGANIZATIONS * DAYS) / (1_000 * 90);
const TICKS_A_DAY = 96;
const DAY_MS = 86_400_000;
const CREDITS = 4;
const RETIREMENTS = 2;
const BATCH = 100;
const AT_ONCE = 4;
const LEASE_MS = 60_000;

/** @type {(column: string) => string} */
const addDayToText = column => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '+1 day')`;
/** @type {(column: string) => string} */
const addDayToInstant = column => `${column} + interval '1 day'`;
/** How both engines name tables, and shift an instant by a day. */
const IN_FILES = { schema: '', shift: addDayToText };
const IN_SCHEMAS = { schema: 'mirror.', shift: addDayToInstant };

const { engine: name } = readArguments();
const { show, demand, end } = createFigures();
if (name === 'sqlite')
  await withFolder(folder =>
    measure(
      folder,
      { dataDir: folder, database: null },
      {
        sizes: async () => sizeFiles(folder),
        copyDay: () => copyDayInFile(join(folder, 'mirror.db')),
      },
    ),
  );
else
  await withPostgres(server =>
    withFolder(async folder => {
      const url = await freshDatabase(server);
      await measure(
        folder,
        { dataDir: folder, database: { url, queryUrl: null, pool: null } },
        {
          sizes: () => sizeSchemas(url),
          copyDay: () => withConnection(url, client => copyDay(sql => client.query(sql), IN_SCHEMAS)),
        },
      );
    }),
  );
end();

/**
 * @param {string} folder
 * @param {Settings} settings
 * @param {{ sizes: () => Promise<Megabytes>, copyDay: () => Promise<void> }} database
 */
async function measure(folder, settings, { sizes, copyDay: copyRecords }) {
  const clock = { at: Date.now() - (DAYS + 1) * DAY_MS };
  const engine = openEngine({ ...settings, diskReserveMb: null });
  const keyFile = join(folder, 'evidence.key');
  const key = createKeyFile(keyFile, 'mirror.example/log');
  await engine.migrate(clock.at);
  await engine.prepare(['evidence'], clock.at, () => undefined);
  const organizations = Array.from({ length: ORGANIZATIONS }, () => randomUUID());
  const now = () => clock.at;
  const lastSigned = openLastSignedFile(keyFile);
  const { signal } = new AbortController();
  const sealAll = async () => {
    const port = await engine.openEvidence();
    if (port === null) throw new Error('expected a log of evidence');
    await sealLog({ port, key: () => key, lastSigned, now, randomBytes, holder: 'bench', signal });
    await port.close();
  };
  /** Rounds begin at 8:00 and 20:00, so that each belongs to one day. */
  clock.at -= (clock.at % DAY_MS) + DAY_MS / 6;
  const reports = new Set([Math.round(DAYS / 3), Math.round((2 * DAYS) / 3), DAYS]);
  for (let day = 0; day <= DAYS; day++) {
    // Opened for each day, because SQLite empties its write-ahead logs when all connections are closed.
    const { inbox, mirror: port, close } = await engine.openWriterStores(now);
    const stage = { clock, mirror: createMirror(port, now) };
    if (day === 0) for (const id of organizations) await install(stage, id);
    const isRead = day <= READ_DAYS || day === DAYS;
    for (let round = 0; round < ROUNDS; round++) {
      clock.at += DAY_MS / ROUNDS;
      if (isRead) await runRound({ stage, inbox, organizations, isFirst: round === 0, isWhole: day === 0 });
    }
    await runTicks(inbox, clock.at);
    while ((await inbox.prune(90)) !== null);
    await close();
    if (!isRead) await copyRecords();
    await sealAll();
    if (day > 0 && reports.has(day)) await report(`after ${day} days`, sizes);
  }
  const faults = await engine.findConsistencyFaults(clock.at);
  if (faults.length > 0)
    throw new Error(`the mirror is not consistent: ${JSON.stringify(faults.slice(0, 3))}`);
  const all = Object.values(await sizes()).reduce((sum, each) => sum + each, 0);
  demand(`disk of ${ORGANIZATIONS} organizations after ${DAYS} days, ${name}`, all, 'MB', {
    atMost: Math.max(10, BOUNDS[name] * SHARE),
  });
  show('peak memory of this process', peakMegabytes(), 'MB');
  if (settings.database !== null) await showTables(settings.database.url);
}

/**
 * Reads the lists of all organizations, each in a job of the schedule.
 * @param {{ stage: Stage, inbox: InboxPort, organizations: readonly string[], isFirst: boolean, isWhole: boolean }} round
 */
async function runRound({ stage, inbox, organizations, isFirst, isWhole }) {
  for (let start = 0; start < organizations.length; start += BATCH) {
    const some = organizations.slice(start, start + BATCH);
    await inbox.enqueue(some.map(id => createInstallationJob(`of-${id}`, id, 'schedule')));
  }
  const lists = LIST_RESOURCES.filter(resource => LISTS[resource].readInterval === 'round' || isFirst);
  await runJobs(inbox, organizations.length, async job => {
    const { organizationId: id, claim } = job;
    if (id === null) throw new Error('expected the job of an organization');
    for (const resource of lists) await readList(stage, { id, claim, resource });
    // The job of a first read is kept, because that read writes rows.
    return isWhole && isFirst ? { act: 'done', outcome: 'read' } : { act: 'unchanged' };
  });
}

/**
 * Runs the ticks of a day, which enqueue the rounds.
 * @param {InboxPort} inbox
 * @param {number} at
 */
async function runTicks(inbox, at) {
  for (let tick = 0; tick < TICKS_A_DAY; tick++)
    await enqueueTick(inbox, at - (tick * DAY_MS) / TICKS_A_DAY, at + DAY_MS);
  await runJobs(inbox, TICKS_A_DAY, async () => ({ act: 'done', outcome: 'enqueued' }));
}

/**
 * Claims, runs and settles jobs until `count` have ended.
 * @param {InboxPort} inbox
 * @param {number} count
 * @param {(job: ClaimedJob) => Promise<import('../../dist/src/inbox/job.js').JobEnd>} work
 */
async function runJobs(inbox, count, work) {
  for (let ended = 0; ended < count; ) {
    const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots: BATCH }], leaseMs: LEASE_MS });
    const waiting = [...jobs];
    /** @type {import('../../dist/src/inbox/job.js').JobSettlement[]} */
    const settlements = [];
    const runWaiting = async () => {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift())
        settlements.push({ claim: { id: job.id, claim: job.claim }, end: await work(job) });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, runWaiting));
    await inbox.settle(settlements);
    ended += jobs.length;
    if (jobs.length === 0) await new Promise(resolve => setTimeout(resolve, 100));
  }
}

/**
 * @param {Stage} stage
 * @param {{ id: string, claim: number, resource: ListResource }} read
 */
async function readList({ mirror, clock }, { id, claim, resource }) {
  const hasNewDelivery = async () => false;
  const request = { claim, trigger: 'schedule', startedAt: clock.at, organizationId: id, hasNewDelivery };
  const traffic = { requests: 1, bytes: 1_000 };
  if (resource === 'warehouse') {
    const reading = await mirror.beginRead({ ...request, resource });
    await reading.writeBatch(
      Array.from({ length: CREDITS }, (_, n) => credit(id, n)),
      clock.at,
    );
    await reading.finish({ ...traffic, total: CREDITS });
    return;
  }
  if (resource === 'retirements') {
    const reading = await mirror.beginRead({ ...request, resource });
    await reading.writeBatch(
      Array.from({ length: RETIREMENTS }, (_, n) => retirement(id, n)),
      clock.at,
    );
    await reading.finish({ ...traffic, total: RETIREMENTS });
    return;
  }
  const reading = await mirror.beginRead({ ...request, resource });
  await reading.writeBatch([], clock.at);
  await reading.finish({ ...traffic, total: 0 });
}

/** @param {string} file */
async function copyDayInFile(file) {
  const db = new Database(file);
  await copyDay(sql => db.exec(sql), IN_FILES);
  db.close();
}

/**
 * Writes the records of one more day of unchanged reads: ends the span of each list, and begins the next one.
 * @param {(sql: string) => unknown} run
 * @param {typeof IN_FILES} dialect
 */
async function copyDay(run, { schema, shift }) {
  await run(`INSERT INTO ${schema}unchanged_spans (organization_id, resource, first_started_at, first_finished_at, last_started_at,
      last_finished_at, reads, requests, bytes)
    SELECT organization_id, resource, unchanged_first_started_at, unchanged_first_finished_at, as_of, unchanged_last_finished_at,
      unchanged_reads, unchanged_requests, unchanged_bytes
    FROM ${schema}resource_states WHERE unchanged_reads > 0 ORDER BY read_claim, resource`);
  const moved = [
    'as_of',
    'attempted_at',
    'last_answer_at',
    'read_at',
    'unchanged_first_started_at',
    'unchanged_first_finished_at',
    'unchanged_last_finished_at',
  ];
  await run(`UPDATE ${schema}resource_states SET ${moved.map(column => `${column} = ${shift(column)}`).join(', ')}
    WHERE unchanged_reads > 0`);
}

/**
 * @param {string} title
 * @param {() => Promise<Megabytes>} sizes
 */
async function report(title, sizes) {
  process.stdout.write(`\n${title}\n`);
  const megabytes = await sizes();
  for (const [part, size] of Object.entries(megabytes)) show(part, size, 'MB');
  show(
    'all',
    Object.values(megabytes).reduce((sum, each) => sum + each, 0),
    'MB',
  );
}

/** @param {string} folder */
function sizeFiles(folder) {
  const names = ['inbox', 'mirror', 'evidence'];
  const sizeOf = (/** @type {string} */ file) => (existsSync(file) ? statSync(file).size : 0) / 1e6;
  return Object.fromEntries(
    names.map(file => [
      `${file}.db`,
      sizeOf(join(folder, `${file}.db`)) + sizeOf(join(folder, `${file}.db-wal`)),
    ]),
  );
}

/** @param {string} url */
async function sizeSchemas(url) {
  const { rows } = await withConnection(url, client =>
    client.query(`SELECT schemaname AS name, sum(pg_total_relation_size(relid)) / 1e6 AS size
      FROM pg_stat_user_tables GROUP BY schemaname ORDER BY schemaname`),
  );
  return Object.fromEntries(rows.map(({ name: schema, size }) => [`schema ${schema}`, Number(size)]));
}

/** @param {string} url */
async function showTables(url) {
  const { rows } = await withConnection(url, client =>
    client.query(`SELECT relid::regclass::text AS name, pg_table_size(relid) / 1e6 AS size, pg_indexes_size(relid) / 1e6 AS indexes
      FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC LIMIT 6`),
  );
  process.stdout.write('\nlargest tables\n');
  for (const { name: table, size, indexes } of rows) {
    show(table, Number(size), 'MB');
    show(`${table}, indexes`, Number(indexes), 'MB');
  }
}
