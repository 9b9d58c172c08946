import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Sqlite } from '../../../../src/store/sqlite/open-database.js';
import { startMirrorThread } from '../../../../src/store/sqlite/mirror/start-mirror-thread.js';
import { createMirror } from '../../../../src/mirror/create-mirror.js';
import type { MirrorPort } from '../../../../src/mirror/port/mirror-port.js';
import { NOON, temporaryFolder } from '../../../support/inbox.js';
import { installation, createUnknownPage, retirements } from '../../../support/mirror/rows.js';
import { temporaryMirror, TRAFFIC } from '../../../support/mirror/open.js';

/** A thread runs what was built. */

async function start(reader: Sqlite, failures: Error[] = [], entry?: URL): Promise<MirrorPort> {
  const file = reader.name;
  const { mirror, close } = await startMirrorThread({
    file,
    reader,
    busyTimeoutMs: 5_000,
    certificates: join(dirname(file), 'certificates'),
    onFailed: error => failures.push(error),
    ...(entry && { entry }),
  });
  onTestFinished(close);
  return mirror;
}

const LOOK = {
  installation: installation('installation-1'),
  state: 'active',
  claim: 1,
  startedAt: NOON,
  arrivedAt: NOON,
  trigger: 'delivery',
} as const;

const READ = {
  organizationId: 'organization-1',
  resource: 'retirements',
  claim: 1,
  startedAt: NOON,
  trigger: 'delivery',
} as const;

test('a list that is read through the thread is written as without a thread', async () => {
  const db = temporaryMirror();
  const mirror = createMirror(await start(db), () => NOON);
  await mirror.writeInstallation(LOOK);
  const read = await mirror.beginRead(READ);
  const items = retirements(250);
  for (let page = 0; page < 3; page += 1) {
    await read.writePage(createUnknownPage(items.slice(page * 100, page * 100 + 100), NOON));
  }
  expect(await read.finish({ ...TRAFFIC, total: 250 })).toMatchObject({ state: 'complete', added: 250 });
  expect(db.prepare('SELECT count(*), sum(amount_micro) FROM retirements').raw().get()).toEqual([
    250,
    250 * 12_500_000,
  ]);
});

const TOLD = { at: new Date(NOON).toISOString(), findings: [] };

test('an operation refused in the thread rejects with its code, and the next operation runs', async () => {
  const db = temporaryMirror();
  const port = await start(db);
  const mirror = createMirror(port, () => NOON);
  await mirror.writeInstallation(LOOK);
  await mirror.raiseFence({ organizationId: 'organization-1', part: 'data', claim: 2 });
  const read = await mirror.beginRead(READ);
  await expect(read.finish({ ...TRAFFIC, total: 0 })).rejects.toMatchObject({
    name: 'MirrorError',
    code: 'fenced',
  });
  expect(await port.readMirrorState()).toMatchObject({ highestClaim: 2 });
  db.exec('DROP TABLE fences');
  await expect(port.readMirrorState()).rejects.toMatchObject({ code: 'SQLITE_ERROR' });
});

test('T17 a lock of another process does not block the main thread', async () => {
  const db = temporaryMirror();
  const port = await start(db);
  db.exec('BEGIN IMMEDIATE');
  let isDone = false;
  const asked = port.report(TOLD).then(() => {
    isDone = true;
    return true;
  });
  for (let turns = 0; turns < 1_000; turns += 1) await turn();
  expect(isDone).toBe(false);
  db.exec('COMMIT');
  expect(await asked).toBe(true);
});

test('a thread that cannot open its database reports why', async () => {
  const file = join(temporaryFolder(), 'mirror.db');
  writeFileSync(file, 'no database, and long enough to be looked at as one: '.repeat(100));
  const options = { file, reader: temporaryMirror(), busyTimeoutMs: 0, certificates: '', onFailed: () => {} };
  await expect(startMirrorThread(options)).rejects.toThrow(/not a database/);
});

test('T61 after the thread has crashed, waiting and later operations are rejected', async () => {
  const entry = join(temporaryFolder(), 'dying.mjs');
  const dying = [
    "import { parentPort } from 'node:worker_threads';",
    "parentPort.on('message', () => process.exit(3));",
    'parentPort.postMessage(null);',
  ].join('\n');
  writeFileSync(entry, dying);
  const failures: Error[] = [];
  const port = await start(temporaryMirror(), failures, pathToFileURL(entry));
  await expect(port.report(TOLD)).rejects.toThrow('the thread that writes the mirror ended with 3');
  await expect(port.report(TOLD)).rejects.toThrow('has ended');
  expect(failures.map(({ message }) => message)).toEqual(['the thread that writes the mirror ended with 3']);
});
