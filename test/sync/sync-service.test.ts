import { expect, test } from 'vitest';
import { NOON } from '../support/inbox.js';
import { openSyncContext, startProgram } from '../support/program.js';
import { createSyncService, type SyncServiceOptions } from '../../src/sync/sync-service.js';

const OPTIONS: SyncServiceOptions = {
  schedule: '*/15 * * * *',
  concurrency: 2,
  self: { role: 'work', host: 'here', pid: 1, startedAt: NOON },
  log: { info: () => {}, warn: () => {}, error: () => {} },
};

test('a mirror that was filled by one app refuses another app', async () => {
  const program = await startProgram({ receiveOnly: true });
  const context = await openSyncContext(program, {});
  const sync = createSyncService(context, OPTIONS);
  await sync.start();
  await sync.stop();
  const another = createSyncService({ ...context, appId: 'another-app' }, OPTIONS);
  await expect(another.start()).rejects.toThrow(/was filled from/);
});

test('claims start above the highest that the mirror has seen, even after an older inbox.db was restored', async () => {
  const program = await startProgram({ receiveOnly: true });
  const context = await openSyncContext(program, {});
  await context.mirror.raiseFence({ organizationId: 'o1', part: 'data', claim: 4711 });
  const sync = createSyncService(context, OPTIONS);
  await sync.start();
  await sync.idle();
  await sync.stop();
  const { inbox } = program;
  await inbox.enqueue([{ kind: 'reservations', dedupeKey: 'x', trigger: 'worker', installationId: 'i1' }]);
  const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots: 10 }], leaseMs: 1000 });
  const [job] = jobs;
  expect(job?.claim).toBeGreaterThan(4711);
});

test('the first start discovers existing installations, and a second start enqueues no second tick', async () => {
  const program = await startProgram({ receiveOnly: true });
  for (let start = 0; start < 2; start++) {
    const sync = createSyncService(await openSyncContext(program, {}), OPTIONS);
    await sync.start();
    await sync.idle();
    await sync.stop();
  }
  const jobs = await program.rows<{ kind: string }>('SELECT kind FROM jobs');
  const kinds = jobs.map(({ kind }) => kind);
  expect(kinds.filter(kind => kind === 'tick')).toHaveLength(1);
  const calls = program.registry.calls.list({ appId: null, installationId: null, limit: 100 });
  expect(calls.filter(({ path }) => path.startsWith('/app/installations'))).toHaveLength(1);
});

test('a registry that refuses the app at the start is logged at once, and a job retries the call', async () => {
  const program = await startProgram({ receiveOnly: true });
  program.registry.faults.add({
    path: '/app/accessTokens',
    kind: 'status',
    options: { status: 401 },
    count: 99,
  });
  const messages: string[] = [];
  const error = (_fields: object, message: string) => void messages.push(message);
  const sync = createSyncService(await openSyncContext(program, {}), {
    ...OPTIONS,
    log: { ...OPTIONS.log, error },
  });
  await sync.start();
  await expect.poll(() => messages).toEqual([expect.stringContaining('no access to the registry: ')]);
  await sync.stop();
  expect(await program.rows("SELECT 1 FROM jobs WHERE kind = 'discover'")).not.toEqual([]);
});

test('a failed first call whose retry cannot be enqueued is logged twice', async () => {
  const program = await startProgram({ receiveOnly: true });
  const fault = { path: '/app/accessTokens', kind: 'status', options: { status: 401 }, count: 99 };
  program.registry.faults.add(fault);
  const messages: string[] = [];
  const record = (_fields: object, message: string) => void messages.push(message);
  const context = await openSyncContext(program, {});
  const enqueue = () => Promise.reject(new Error('the disk is full'));
  const sync = createSyncService(
    { ...context, inbox: { ...context.inbox, enqueue } },
    { ...OPTIONS, log: { ...OPTIONS.log, error: record, warn: record } },
  );
  await sync.start();
  await expect.poll(() => messages).toContain('retry of the first call could not be enqueued');
  await sync.stop();
  expect(messages).toContainEqual(expect.stringContaining('no access to the registry: '));
});
