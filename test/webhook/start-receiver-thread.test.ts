import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startReceiverThread, unpackPosts } from '../../src/webhook/start-receiver-thread.js';
import { APP_ID, genuinePost, SECRET, THREAD_ENTRY } from '../support/receiver.js';
import { holdLock } from '../support/held-locks.js';
import { NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';

async function startThread(file: string, failures: Error[] = [], entry = THREAD_ENTRY) {
  const thread = await startReceiverThread({
    entry,
    workerData: {
      store: { dataDir: dirname(file), diskReserveMb: null, database: null },
      secrets: [SECRET],
      appId: APP_ID,
    },
    now: () => NOON,
    onFailed: error => failures.push(error),
  });
  onTestFinished(() => thread.close().catch(() => undefined));
  return thread;
}

const createPost = (event = 'installed') => genuinePost({ event }, NOON);

test('the thread verifies and stores posts, and closes its database at the end', async () => {
  const folder = temporaryFolder();
  const db = temporaryInbox(folder);
  const failures: Error[] = [];
  const thread = await startThread(join(folder, 'inbox.db'), failures);
  expect(await thread.findWriteObstacle()).toBeNull();
  const ends = await thread.accept([
    createPost('installed'),
    { ...createPost(), signature: null },
    { ...createPost(), body: Buffer.from('{}') },
    { ...createPost(), body: new Uint8Array() },
    createPost('suspended'),
  ]);
  expect(ends).toMatchObject([
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
  await expect(thread.accept([createPost()])).rejects.toThrow('has ended');
  expect(failures).toEqual([]);
});

test('the thread counts rejected webhooks and records heartbeats', async () => {
  const folder = temporaryFolder();
  const db = temporaryInbox(folder);
  const thread = await startThread(join(folder, 'inbox.db'));
  await thread.countRejected([
    { reason: 'too_large', status: 413, headerPrefix: '', rejected: 2, newestMsAgo: 0 },
  ]);
  await thread.heartbeat({ role: 'receive', host: 'here', pid: 7, startedAt: NOON });
  expect(db.prepare('SELECT status, rejected FROM rejected_webhooks').all()).toEqual([
    { status: 413, rejected: 2 },
  ]);
  expect(db.prepare('SELECT role, pid FROM processes').all()).toEqual([{ role: 'receive', pid: 7 }]);
});

test('unpacked posts equal the packed ones', () => {
  const post = { signature: null, receivedAt: 7 };
  const posts = [3, 0, 2].map(size => ({ ...post, size }));
  expect(unpackPosts({ bytes: Uint8Array.of(1, 2, 3, 4, 5), posts })).toEqual(
    [[1, 2, 3], [], [4, 5]].map(bytes => ({ ...post, body: Uint8Array.from(bytes) })),
  );
});

test('T17 a locked database makes the thread wait, not the process', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const thread = await startThread(join(folder, 'inbox.db'));
  const release = holdLock(join(folder, 'inbox.db'));
  onTestFinished(release);
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 1);
  expect(await thread.findWriteObstacle()).toMatchObject({ message: expect.stringContaining('locked') });
  clearInterval(turning);
  expect(turns).toBeGreaterThan(3);
  expect(await thread.accept([createPost()])).toMatchObject([
    { kind: 'failed', failure: { code: 'SQLITE_BUSY' }, delivery: { event: 'installed' } },
  ]);
  release();
  expect(await thread.findWriteObstacle()).toBeNull();
  expect(await thread.accept([createPost()])).toMatchObject([{ kind: 'stored' }]);
});

test('starting fails if the database cannot be used', async () => {
  const folder = temporaryFolder();
  await expect(startThread(join(folder, 'inbox.db'))).rejects.toThrow('no such table');
});

test('a thread that crashes rejects its calls, reports why once, and can still be closed', async () => {
  const entry = join(temporaryFolder(), 'dying.mjs');
  const dying = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', () => { throw new Error('on purpose'); });
    parentPort.postMessage(null);`;
  writeFileSync(entry, dying);
  const failures: Error[] = [];
  const thread = await startThread('inbox.db', failures, pathToFileURL(entry));
  await expect(thread.accept([createPost()])).rejects.toThrow('on purpose');
  await expect(thread.accept([createPost()])).rejects.toThrow('has ended');
  await thread.close();
  await thread.close();
  expect(failures.map(error => error.message)).toEqual(['on purpose']);
});
