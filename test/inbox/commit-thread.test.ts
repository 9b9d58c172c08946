import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/open.js';
import { type CommitThread, startCommitThread } from '../../src/inbox/commit-thread.js';
import { acceptedDelivery, NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';

/** A thread runs what was built. */
const ENTRY = new URL('../../dist/inbox/commit-worker.js', import.meta.url);

async function start(file: string, failures: Error[] = [], entry = ENTRY): Promise<CommitThread> {
  const thread = await startCommitThread({
    file,
    busyTimeoutMs: 50,
    now: () => NOON,
    failed: error => failures.push(error),
    entry,
  });
  onTestFinished(() => thread.close().catch(() => undefined));
  return thread;
}

test('the thread stores what it is given, and closes its database at the end', async () => {
  const folder = temporaryFolder();
  const db = temporaryInbox(folder);
  const failures: Error[] = [];
  const thread = await start(join(folder, 'inbox.db'), failures);
  await thread.checkWritable();
  const results = await thread.store([
    acceptedDelivery(),
    acceptedDelivery({ reason: 'a contradiction' }),
    acceptedDelivery(),
  ]);
  expect(results).toEqual([
    { id: 1, jobId: 1 },
    { failure: { code: 'SQLITE_CONSTRAINT_CHECK', message: expect.stringContaining('CHECK') } },
    { id: 2, jobId: 1 },
  ]);
  expect(db.prepare('SELECT count(*) FROM deliveries').pluck().get()).toBe(2);
  await thread.close();
  await expect(thread.store([acceptedDelivery()])).rejects.toThrow('has ended');
  expect(failures).toEqual([]);
});

test('T17 a stranger who holds the lock makes the thread wait, not the process', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const thread = await start(join(folder, 'inbox.db'));
  const stranger = openDatabase(join(folder, 'inbox.db'), { busyTimeoutMs: 0 });
  onTestFinished(() => {
    stranger.close();
  });
  stranger.exec('BEGIN IMMEDIATE');
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 1);
  await expect(thread.checkWritable()).rejects.toThrow('locked');
  clearInterval(turning);
  expect(turns).toBeGreaterThan(3);
  expect(await thread.store([acceptedDelivery()])).toMatchObject([{ failure: { code: 'SQLITE_BUSY' } }]);
  stranger.exec('COMMIT');
  await thread.checkWritable();
  expect(await thread.store([acceptedDelivery()])).toEqual([{ id: 1, jobId: 1 }]);
});

test('a database that cannot be opened is reported at the start', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  await expect(start(join(folder, 'file', 'inbox.db'))).rejects.toThrow(/EEXIST|ENOTDIR/);
});

test('a thread that dies fails what it was asked, tells why once, and can still be closed', async () => {
  const entry = join(temporaryFolder(), 'dying.mjs');
  const dying = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', () => { throw new Error('on purpose'); });
    parentPort.postMessage([]);`;
  writeFileSync(entry, dying);
  const failures: Error[] = [];
  const thread = await start('inbox.db', failures, pathToFileURL(entry));
  await expect(thread.store([acceptedDelivery()])).rejects.toThrow('on purpose');
  await expect(thread.store([acceptedDelivery()])).rejects.toThrow('has ended');
  await thread.close();
  await thread.close();
  expect(failures.map(error => error.message)).toEqual(['on purpose']);
});
