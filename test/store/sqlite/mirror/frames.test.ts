import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSyncContext } from '../../../../src/app/create-sync-context.js';
import { describeThisProcess } from '../../../../src/app/process-identity.js';
import { createSqliteEngine } from '../../../../src/store/sqlite/engine.js';
import type { MirrorPort } from '../../../../src/mirror/port/mirror-port.js';
import { createSyncService } from '../../../../src/sync/sync-service.js';
import { createTestClient, startProgram } from '../../../support/program.js';
import { createOrganization, issueCredit } from '../../../support/sandbox.js';

/** Between the worker and the statement that inserts a row: all that the worker has called as it gives the rows to the store, what the store calls as it gives them to its thread, then all in the thread. The call by message, which both threads share, is a file of its own. */
const FRAMES_AT_MOST = 17;
const FILES_AT_MOST = 9;

const LONG = 100;
const WORKER = 'sync/worker/';
const FIRST = 'sync/installation/read-installation';
const THREAD = 'thread';
const SOURCE = /^\/\/ src\/([\w/-]+)\.ts$/;

/** The files of our own functions in a stack, innermost first. */
function framesIn(stack = ''): string[] {
  const ours = stack.split('\n').filter(line => !line.includes('/node_modules/'));
  return ours.flatMap(line => {
    const [, bundle, at] = /(\/[^ ]+\/dist\/program-\w+\/[\w-]+\.js):(\d+)/.exec(line) ?? [];
    if (bundle !== undefined) return sourceIn(bundle, Number(at));
    return /\/(?:dist\/)?src\/([\w/-]+)\.[jt]s:\d+/.exec(line)?.[1] ?? [];
  });
}

/** The bundle says above the code of each file which it was. */
function sourceIn(bundle: string, at: number): string {
  const above = readFileSync(bundle, 'utf8').split('\n').slice(0, at);
  return SOURCE.exec(above.findLast(line => SOURCE.test(line)) ?? '')?.[1] ?? bundle;
}

/** Records the call stack of the store whenever it passes rows to its thread. */
function watchPosts(): string[][] {
  const posts: string[][] = [];
  const post: unknown = Reflect.get(Worker.prototype, 'postMessage');
  if (typeof post !== 'function') throw new Error('a thread is given messages by a function');
  const spy = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...given) {
    const [message]: unknown[] = given;
    const holdsRows = inspect(message, { depth: 5 }).includes('INSERT INTO "warehouse_credits"');
    if (holdsRows)
      posts.push(framesIn(new Error('here').stack).filter(file => /^(?:store|thread)/.test(file)));
    Reflect.apply(post, this, given);
  });
  onTestFinished(() => spy.mockRestore());
  return posts;
}

interface Failed {
  readonly error: Error;
  /** The call stack of the worker when it passed rows to the store. */
  readonly caller: readonly string[];
}

/** Returns the error of a failed insert, from a worker that is connected as in the program. */
async function failedInsert(credits: number): Promise<Failed> {
  const program = await startProgram({ receiveOnly: true });
  const { sandbox, registry, app, folder, time } = program;
  const { id: organizationId } = createOrganization(sandbox);
  for (let count = 0; count < credits; count += 1) issueCredit(sandbox, organizationId);
  const engine = createSqliteEngine({ dataDir: folder, diskReserveMb: 0, database: null });
  const store = await engine.openWorkerStores({
    now: time.now,
    onWriterFailed: () => {},
    onConnectionLost: () => {},
  });
  onTestFinished(() => store.close());
  await program.change(
    "CREATE TRIGGER planted BEFORE INSERT ON warehouse_credits BEGIN SELECT RAISE(ABORT, 'planted'); END",
  );
  const failed: Failed[] = [];
  const mirror: MirrorPort = {
    ...store.mirror,
    commit: (...given) => {
      const { stack } = new Error('here');
      return store.mirror.commit(...given).catch((error: Error) => {
        failed.push({ error, caller: framesIn(stack) });
        throw error;
      });
    },
  };
  const settings = { appId: app.id, mirrorMembers: true, retentionDays: 90, consoleActions: false };
  const client = createTestClient(sandbox, app, time.now);
  const parts = { ...store, mirror, client, now: time.now, random: () => 0 };
  const worker = createSyncService(await createSyncContext(settings, parts), {
    schedule: null,
    concurrency: 1,
    self: describeThisProcess('work', time.now()),
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  registry.installations.install(app.id, organizationId);
  await worker.start();
  onTestFinished(() => worker.stop());
  await expect.poll(() => failed[0]).toBeDefined();
  const [first] = failed;
  if (first === undefined) throw new Error('nothing failed');
  return first;
}

test.each([
  ['a short list, which is written at its end', 3],
  ['a long list, which is written while it is read', 900],
])('the call stack from the worker to the insert of a row is short for %s', async (_name, credits) => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = LONG;
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  const posts = watchPosts();
  const { error, caller } = await failedInsert(credits);
  expect(error.message).toBe('planted');
  const inThread = framesIn(error.stack);
  expect(inThread.at(-1)).toBe(THREAD);
  const [inStore = []] = posts;
  expect(inStore.length).toBeGreaterThan(0);
  const byWorker = caller.filter(file => !file.startsWith(WORKER) && !file.endsWith('.test'));
  expect(byWorker.at(-1)).toBe(FIRST);
  const frames = [...inThread, ...inStore, ...byWorker];
  expect(frames.length, frames.join('\n')).toBeLessThanOrEqual(FRAMES_AT_MOST);
  expect(new Set(frames).size, frames.join('\n')).toBeLessThanOrEqual(FILES_AT_MOST);
});
