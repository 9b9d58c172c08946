import { join } from 'node:path';
import { expect, test } from 'vitest';
import { migrateFile } from '../../src/store/sqlite/migrate.js';
import type { InboxPort } from '../../src/inbox/port.js';
import { openTestInbox, temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { startInstalled, type Program, startProgram } from '../support/program.js';
import { retireMany } from '../support/mirror/by-workers.js';
import { createInstallationJob } from '../../src/inbox/job.js';
import { findDifferences } from '../support/compare.js';
import { createRandom } from '../support/random.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';
import { type Tables, openTablesIn, withOpenTables } from '../support/tables.js';
import { startWorkProcess } from '../support/work-process.js';
import { chooseLength, long } from '../support/long.js';

/** Makes every lease expire now. */
async function expireLeases(program: Program): Promise<void> {
  await program.change("UPDATE jobs SET claimed_until = '2000-01-01T00:00:00.000Z' WHERE state = 'running'");
}

async function isQuiet(inbox: InboxPort): Promise<boolean> {
  const { running, oldestRunAt } = await inbox.countJobs();
  const soon = new Date(Date.now() + 3000).toISOString();
  return running === 0 && (oldestRunAt === null || oldestRunAt > soon);
}

test('T61 a worker process that is killed repeatedly loses no data and leaves nothing half written', async () => {
  const program = await startProgram({ receiveOnly: true });
  const { id: organizationId } = createOrganization(program.sandbox);
  const creditId = issueCredit(program.sandbox, organizationId);
  retireMany(program, organizationId, creditId, 60);
  program.registry.faults.add({ path: '/organizations/*/**', kind: 'delay', options: { delayMs: 15 } });
  program.registry.installations.install(program.app.id, organizationId);
  await program.registry.deliveries.waitUntilSettled();
  const settings = { url: program.sandbox.url, app: program.app, dataDir: program.folder };
  const random = createRandom(61);
  let killedAtWork = 0;
  for (let life = 0; life < chooseLength(3, 6); life++) {
    const work = startWorkProcess(settings);
    await expect
      .poll(async () => (await program.inbox.countJobs()).running, { interval: 20 })
      .toBeGreaterThan(0);
    await new Promise(resolve => setTimeout(resolve, random() * 250));
    killedAtWork += (await program.inbox.countJobs()).running > 0 ? 1 : 0;
    await work.kill();
    await expireLeases(program);
    if (await isQuiet(program.inbox)) break;
  }
  expect(killedAtWork).toBeGreaterThan(0);
  program.registry.faults.clear();
  const last = startWorkProcess(settings);
  await expect.poll(() => isQuiet(program.inbox)).toBe(true);
  expect(await last.stop()).toBe(0);
  expect(await findDifferences(program)).toEqual([]);
  expect(await program.engine.findConsistencyFaults(Date.now())).toEqual([]);
  expect(await program.rows("SELECT * FROM syncs WHERE state = 'running'")).toEqual([]);
});

test('T63 two and four worker processes on one pair of databases run no job twice at once', async () => {
  const program = await startProgram({ receiveOnly: true });
  program.registry.faults.add({ path: '/organizations/**', kind: 'delay', options: { delayMs: 5 } });
  const settings = { url: program.sandbox.url, app: program.app, dataDir: program.folder };
  const works = [1, 2, 3, 4].map(() => startWorkProcess(settings));
  for (let organization = 0; organization < 8; organization++) {
    const { id } = createOrganization(program.sandbox);
    issueCredit(program.sandbox, id);
    program.registry.installations.install(program.app.id, id);
  }
  await program.registry.deliveries.waitUntilSettled();
  await expect.poll(async () => (await program.rows('SELECT 1 FROM installations')).length).toBe(8);
  await expect.poll(() => isQuiet(program.inbox)).toBe(true);
  for (const work of works) expect(await work.stop()).toBe(0);
  expect(await findDifferences(program)).toEqual([]);
  const overlaps =
    await program.rows(`SELECT a.id FROM syncs a JOIN syncs b ON a.claim < b.claim AND a.organization_id = b.organization_id
       AND (a.resource = 'certificates') = (b.resource = 'certificates')
       WHERE 'installation' NOT IN (a.resource, b.resource) AND a.started_at < b.finished_at AND b.started_at < a.finished_at`);
  expect(overlaps).toEqual([]);
  expect(await program.rows("SELECT * FROM syncs WHERE state <> 'complete'")).toEqual([]);
});

test('T68 the mirror is identical in the time zones of Berlin, Newfoundland and Samoa', async () => {
  const program = await startProgram();
  const { id: organizationId } = createOrganization(program.sandbox);
  const creditId = issueCredit(program.sandbox, organizationId);
  retireMany(program, organizationId, creditId, 5);
  program.registry.reservations.reserve(organizationId, program.app.id, { creditId, amount: 3 });
  const { id } = program.registry.installations.install(program.app.id, organizationId);
  await program.rest();
  const here = await comparedRows(program);
  const zones = ['America/St_Johns', 'Europe/Berlin', 'Pacific/Apia'].slice(0, chooseLength(1, 3));
  for (const TZ of zones) {
    const mirror = await mirrorIn(TZ, program, id, organizationId);
    expect(mirror.instants.length).toBeGreaterThan(10);
    for (const instant of mirror.instants)
      expect(instant).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(mirror.rows).toEqual(here);
  }
});

async function mirrorIn(TZ: string, program: Program, installationId: string, organizationId: string) {
  const dataDir = temporaryFolder();
  for (const database of ['inbox', 'mirror'] as const) {
    migrateFile(join(dataDir, `${database}.db`), database, new Date().toISOString());
  }
  const { at, enqueue } = openTestInbox(temporaryInbox(dataDir));
  await enqueue(createInstallationJob(installationId, organizationId, 'person'), Date.now());
  const work = startWorkProcess({ url: program.sandbox.url, app: program.app, dataDir, env: { TZ } });
  const tables = openTablesIn(dataDir);
  const stored = () => tables.rows("SELECT 1 FROM certificates WHERE state = 'stored'");
  await expect.poll(stored, { interval: 100 }).toHaveLength(5);
  await expect.poll(() => isQuiet(at(Date.now()))).toBe(true);
  expect(await work.stop()).toBe(0);
  return await withOpenTables(dataDir, async open => ({
    rows: await comparedRows(open),
    instants: await instantsOf(open),
  }));
}

async function comparedRows(tables: Tables): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const table of COMPARED) rows.push(await rowsWithoutReadTimes(tables, table));
  return rows;
}

const COMPARED = [
  'organizations',
  'warehouse_credits',
  'reservations',
  'retirements',
  'members',
  'addresses',
] as const;

async function rowsWithoutReadTimes({ rows, columns }: Tables, table: string): Promise<unknown[]> {
  const ours = new Set(['version', 'valid_from', 'sync_id']);
  const names = (await columns(table)).filter(name => !ours.has(name));
  return await rows(`SELECT ${names.join(', ')} FROM ${table} ORDER BY document`);
}

/** Returns all values of columns that are named as instants. */
async function instantsOf({ column, columns, tables }: Tables): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const table of await tables()) {
    const names = (await columns(table)).filter(name => /_at$|^valid_(from|to)$/.test(name));
    for (const name of names) {
      found.push(...(await column(`SELECT ${name} FROM ${table} WHERE ${name} IS NOT NULL`)));
    }
  }
  return found;
}

long.test(
  'T71 a flood of deliveries causes one read at once, then one a second, and one after the last delivery',
  async () => {
    const { program, installationId, retire } = await startInstalled();
    const began = program.ended.length;
    const startedAt = Date.now();
    for (let wave = 0; wave < 12; wave++) {
      program.registry.deliveries.changeSettings({ duplicate: 19 });
      retire(0.1);
      await program.registry.deliveries.waitUntilSettled();
      await new Promise(resolve => setTimeout(resolve, 170));
    }
    const seconds = (Date.now() - startedAt) / 1000;
    const during = program.ended.slice(began).filter(({ kind }) => kind === 'installation').length;
    const posts = 'SELECT sum(duplicates + 1) FROM deliveries WHERE installation_id = ?';
    expect(await program.value(posts, installationId)).toBeGreaterThanOrEqual(240);
    expect(during).toBeGreaterThanOrEqual(1);
    expect(during).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
    await program.rest();
    const newest = 'SELECT max(coalesce(last_duplicate_at, received_at)) FROM deliveries';
    const arrived = await program.value<string>(newest);
    const [read] = await program.rows(
      "SELECT max(started_at) AS started FROM syncs WHERE resource = 'warehouse'",
    );
    expect(Object(read)['started'] > (arrived ?? '')).toBe(true);
    expect(await findDifferences(program)).toEqual([]);
  },
);
