import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startReceiverThread, unpack } from '../../src/webhook/thread.js';
import { APP_ID, genuinePost, SECRET, THREAD_ENTRY } from '../support/receiver.js';
import { holdLock } from '../support/held.js';
import { NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';

async function start(file: string, failures: Error[] = [], entry = THREAD_ENTRY) {
  const thread = await startReceiverThread({
    entry,
    workerData: {
      store: { dataDir: dirname(file), diskReserveMb: null, database: null },
      secrets: [SECRET],
      appId: APP_ID,
    },
    now: () => NOON,
    failed: error => failures.push(error),
  });
  onTestFinished(() => thread.close().catch(() => undefined));
  return thread;
}

const genuine = (event = 'installed') => genuinePost({ event }, NOON);

test('the thread verifies and stores what it is given, and closes its database at the end', async () => {
  const folder = temporaryFolder();
  const db = temporaryInbox(folder);
  const failures: Error[] = [];
  const thread = await start(join(folder, 'inbox.db'), failures);
  expect(await thread.findObstacle()).toBeNull();
  const outcomes = await thread.accept([
    genuine('installed'),
    { ...genuine(), signature: null },
    { ...genuine(), body: Buffer.from('{}') },
    { ...genuine(), body: new Uint8Array() },
    genuine('suspended'),
  ]);
  expect(outcomes).toMatchObject([
    { kind: 'stored', delivery: { event: 'installed' }, stored: { id: 1, jobId: 1 } },
    { kind: 'rejected', status: 401 },
    { kind: 'rejected', status: 400 },
    { kind: 'rejected', status: 400 },
    { kind: 'stored', delivery: { event: 'suspended' }, stored: { id: 2, jobId: 1 } },
  ]);
  expect(db.prepare('SELECT event, received_at FROM deliveries').all()).toEqual([
    { event: 'installed', received_at: new Date(NOON).toISOString() },
    { event: 'suspended', received_at: new Date(NOON).toISOString() },
  ]);
  await thread.close();
  await expect(thread.accept([genuine()])).rejects.toThrow('has ended');
  expect(failures).toEqual([]);
});

test('the thread counts what was rejected, and says that the receiver lives', async () => {
  const folder = temporaryFolder();
  const db = temporaryInbox(folder);
  const thread = await start(join(folder, 'inbox.db'));
  await thread.countRejected([
    { reason: 'too_large', status: 413, headerPrefix: '', rejected: 2, newestMsAgo: 0 },
  ]);
  await thread.heartbeat({ role: 'receive', host: 'here', pid: 7, startedAt: NOON });
  expect(db.prepare('SELECT status, rejected FROM rejected_webhooks').all()).toEqual([
    { status: 413, rejected: 2 },
  ]);
  expect(db.prepare('SELECT role, pid FROM processes').all()).toEqual([{ role: 'receive', pid: 7 }]);
});

test('posts come out of their one piece of memory as they were', () => {
  const post = { signature: null, receivedAt: 7 };
  const posts = [3, 0, 2].map(size => ({ ...post, size }));
  expect(unpack({ bytes: Uint8Array.of(1, 2, 3, 4, 5), posts })).toEqual(
    [[1, 2, 3], [], [4, 5]].map(bytes => ({ ...post, body: Uint8Array.from(bytes) })),
  );
});

test('T17 a stranger who holds the lock makes the thread wait, not the process', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const thread = await start(join(folder, 'inbox.db'));
  const release = holdLock(join(folder, 'inbox.db'));
  onTestFinished(release);
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 1);
  expect(await thread.findObstacle()).toMatchObject({ message: expect.stringContaining('locked') });
  clearInterval(turning);
  expect(turns).toBeGreaterThan(3);
  expect(await thread.accept([genuine()])).toMatchObject([
    { kind: 'failed', failure: { code: 'SQLITE_BUSY' }, delivery: { event: 'installed' } },
  ]);
  release();
  expect(await thread.findObstacle()).toBeNull();
  expect(await thread.accept([genuine()])).toMatchObject([{ kind: 'stored' }]);
});

test('a database that cannot be used is reported at the start', async () => {
  const folder = temporaryFolder();
  await expect(start(join(folder, 'inbox.db'))).rejects.toThrow('no such table');
});

test('a thread that dies fails what it was asked, tells why once, and can still be closed', async () => {
  const entry = join(temporaryFolder(), 'dying.mjs');
  const dying = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', () => { throw new Error('on purpose'); });
    parentPort.postMessage(null);`;
  writeFileSync(entry, dying);
  const failures: Error[] = [];
  const thread = await start('inbox.db', failures, pathToFileURL(entry));
  await expect(thread.accept([genuine()])).rejects.toThrow('on purpose');
  await expect(thread.accept([genuine()])).rejects.toThrow('has ended');
  await thread.close();
  await thread.close();
  expect(failures.map(error => error.message)).toEqual(['on purpose']);
});
