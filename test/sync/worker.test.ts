import { expect, onTestFinished, test, vi } from 'vitest';
import { PARTIAL_READ_PREFIX, createInstallationJob } from '../../src/inbox/job.js';
import { createInboxPort } from '../../src/store/sqlite/inbox/inbox-port.js';
import type { InboxPort } from '../../src/inbox/port.js';
import {
  type TestInbox,
  openTestInbox,
  acceptedDelivery,
  NOON,
  temporaryFolder,
  temporaryInbox,
} from '../support/inbox.js';
import { RegistryError } from '../../src/registry/errors.js';
import type { JobHandler } from '../../src/sync/worker/execute-job.js';
import { createWorker, type Worker, type WorkerOptions } from '../../src/sync/worker/worker.js';

const SILENT_LOG = { info: () => {}, warn: () => {}, error: () => {} };

/** Starts a worker with its own connection to the same file, as in another process. */
function startWorker(folder: string, handleJob: JobHandler, overrides: Partial<WorkerOptions> = {}): Worker {
  const db = temporaryInbox(folder, 5000);
  const worker = createWorker({
    inbox: createInboxPort(db, overrides.now ?? Date.now),
    handleJob,
    concurrency: 4,
    now: Date.now,
    random: () => 0,
    log: SILENT_LOG,
    ...overrides,
  });
  onTestFinished(() => worker.stop());
  worker.start();
  return worker;
}

function createInboxFolder(): { folder: string; inbox: TestInbox } {
  const folder = temporaryFolder();
  return { folder, inbox: openTestInbox(temporaryInbox(folder)) };
}

const enqueueJob = (inbox: Pick<TestInbox, 'enqueue'>, id: string, now = Date.now()) =>
  inbox.enqueue(createInstallationJob(id, null, 'delivery'), now);

test('a worker wakes for a delivery that another connection stored', async () => {
  const { folder, inbox } = createInboxFolder();
  const done = new Promise<string | null>(resolve => {
    startWorker(folder, async ({ job }) => {
      resolve(job.installationId);
      return 'read';
    });
  });
  const now = Date.now();
  await inbox.accept([acceptedDelivery({ receivedAt: now, installationId: 'i7' })], now);
  expect(await done).toBe('i7');
});

test('an idle worker wakes for a job that its own process enqueued', async () => {
  const { folder } = createInboxFolder();
  const inbox = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  const done: (string | null)[] = [];
  const handleJob: JobHandler = async ({ job }) => {
    done.push(job.installationId);
    return 'read';
  };
  startWorker(folder, handleJob, { inbox });
  await inbox.enqueue([createInstallationJob('i8', null, 'delivery')]);
  await expect.poll(() => done, { timeout: 3000 }).toEqual(['i8']);
});

test('idle waits for jobs of a part that had no free slot when the claim started', async () => {
  const inbox = createInboxPort(temporaryInbox(temporaryFolder(), 5000), Date.now);
  await inbox.enqueue(['first', 'second'].map(id => createInstallationJob(id, null, 'delivery')));
  const done: (string | null)[] = [];
  let endFirstRun = (): void => undefined;
  let isWaiting = false;
  const handleJob: JobHandler = async ({ job }) => {
    if (done.length === 0) await new Promise<void>(resolve => (endFirstRun = resolve));
    done.push(job.installationId);
    return 'read';
  };
  /** The first run ends during a claim of the other part. */
  const claim: InboxPort['claim'] = async request => {
    const result = await inbox.claim(request);
    if (isWaiting && request.parts.every(({ part }) => part === 'certificates')) {
      endFirstRun();
      await vi.waitFor(() => expect(worker.countRuns()).toBe(0));
    }
    return result;
  };
  const worker = startWorker(temporaryFolder(), handleJob, { concurrency: 1, inbox: { ...inbox, claim } });
  await vi.waitFor(() => expect(worker.countRuns()).toBe(1));
  isWaiting = true;
  await worker.idle();
  expect(done).toEqual(['first', 'second']);
});

test('idle resolves after a claim that started later than the call', async () => {
  const { folder } = createInboxFolder();
  const inbox = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  const pendingClaims: (() => void)[] = [];
  const slow: InboxPort = {
    ...inbox,
    claim: async request => {
      const result = await inbox.claim(request);
      await new Promise<void>(resolve => pendingClaims.push(resolve));
      return result;
    },
  };
  const done: (string | null)[] = [];
  const handleJob: JobHandler = async ({ job }) => {
    done.push(job.installationId);
    return 'read';
  };
  const worker = startWorker(folder, handleJob, { inbox: slow });
  await expect.poll(() => pendingClaims.length).toBe(1);
  await inbox.enqueue([createInstallationJob('i9', null, 'person')]);
  const seen = worker.idle().then(() => [...done]);
  const releaseTimer = setInterval(() => pendingClaims.shift()?.(), 5);
  onTestFinished(() => clearInterval(releaseTimer));
  expect(await seen).toEqual(['i9']);
});

test('T63 four workers never run one installation twice at once, and finish all jobs', async () => {
  const { folder, inbox } = createInboxFolder();
  const atWork = new Set<string>();
  const done: string[] = [];
  const clashes: string[] = [];
  const handleJob: JobHandler = async ({ job, yieldTurn }) => {
    const id = job.installationId ?? '';
    if (atWork.has(id)) clashes.push(id);
    atWork.add(id);
    for (let page = 0; page < 5; page++) {
      await new Promise(resolve => setTimeout(resolve, 1));
      await yieldTurn();
    }
    atWork.delete(id);
    done.push(id);
    return 'read';
  };
  for (let id = 0; id < 40; id++) await enqueueJob(inbox, `i${id}`);
  const workers = [1, 2, 3, 4].map(() => startWorker(folder, handleJob));
  for (let id = 0; id < 40; id++) await enqueueJob(inbox, `i${id}`);
  await Promise.all(workers.map(worker => worker.idle()));
  await expect.poll(async () => (await inbox.at(Date.now()).countJobs()).waiting).toBe(0);
  await Promise.all(workers.map(worker => worker.idle()));
  expect(clashes).toEqual([]);
  expect(new Set(done).size).toBe(40);
});

test('T63 control: two workers without exclusive claims do run one installation twice at once', async () => {
  const { folder, inbox } = createInboxFolder();
  const atWork = new Set<string>();
  const clashes: string[] = [];
  const handleJob: JobHandler = async ({ job }) => {
    const id = job.installationId ?? '';
    if (atWork.has(id)) clashes.push(id);
    atWork.add(id);
    await new Promise(resolve => setTimeout(resolve, 20));
    atWork.delete(id);
    return 'read';
  };
  await enqueueJob(inbox, 'i1');
  const ahead = createInboxPort(temporaryInbox(folder, 5000), () => Date.now() + 1e9);
  const careless: InboxPort = {
    ...createInboxPort(temporaryInbox(folder, 5000), Date.now),
    claim: ({ parts }) => ahead.claim({ parts, leaseMs: -1e9 }),
  };
  const workers = [1, 2].map(() => startWorker(folder, handleJob, { inbox: careless }));
  await expect.poll(() => clashes.length).toBeGreaterThan(0);
  await Promise.all(workers.map(worker => worker.stop()));
});

test('T64 a job whose process dies every time fails after its attempts', async () => {
  const { folder, inbox } = createInboxFolder();
  let now = NOON;
  const id = await enqueueJob(inbox, 'i1', now);
  let claims = 0;
  for (let life = 0; life < 12; life++) {
    const dies: JobHandler = () => {
      claims += 1;
      return new Promise(() => {});
    };
    const db = temporaryInbox(folder, 5000);
    const killed = createWorker({
      inbox: createInboxPort(db, () => now),
      handleJob: dies,
      concurrency: 1,
      now: () => now,
      random: () => 0,
      log: SILENT_LOG,
    });
    killed.start();
    await new Promise(resolve => setImmediate(resolve));
    void killed.stop();
    now += 61_000;
  }
  expect(claims).toBe(10);
  expect(await inbox.job(id)).toMatchObject({
    state: 'failed',
    attempts: 10,
    error_or_pause_code: 'never_finished',
  });
});

test.each(Array.from({ length: 12 }, (_, index) => index))(
  'a job that becomes due during a claim is run without delay (%i ms after the start)',
  async after => {
    const { folder, inbox } = createInboxFolder();
    let clock = NOON;
    await inbox.enqueue({ ...createInstallationJob('i1', null, 'delivery'), startDelayMs: after }, clock);
    const done: string[] = [];
    const handleJob: JobHandler = async ({ job }) => {
      done.push(job.dedupeKey);
      return 'read';
    };
    startWorker(folder, handleJob, { now: () => clock++ });
    await expect.poll(() => done.length, { timeout: 2000, interval: 2 }).toBe(1);
  },
);

test('a shutdown ends a run at its next page and releases the job for the next process', async () => {
  const { folder, inbox } = createInboxFolder();
  const id = await enqueueJob(inbox, 'i1');
  let pages = 0;
  const endless: JobHandler = async ({ yieldTurn }) => {
    for (;;) {
      pages += 1;
      await new Promise(resolve => setTimeout(resolve, 1));
      await yieldTurn();
    }
  };
  const first = startWorker(folder, endless);
  await expect.poll(() => pages).toBeGreaterThan(2);
  await first.stop();
  expect(await inbox.job(id)).toMatchObject({ state: 'waiting', attempts: 0 });
  const second = startWorker(folder, async () => 'read');
  await second.idle();
  expect(await inbox.job(id)).toMatchObject({ state: 'done', outcome: 'read', attempts: 1 });
});

test('T21 while the disk is nearly full no job is claimed and running jobs are released', async () => {
  const { folder, inbox } = createInboxFolder();
  const running = await enqueueJob(inbox, 'i1');
  let reason: string | null = null;
  let pages = 0;
  let isEndless = true;
  let checks = 0;
  const messages: string[] = [];
  const recordMessage = (_fields: object, message: string) => messages.push(message);
  const handleJob: JobHandler = async ({ yieldTurn }) => {
    for (;;) {
      pages += 1;
      await new Promise(resolve => setTimeout(resolve, 1));
      await yieldTurn();
      if (!isEndless) return 'read';
    }
  };
  const worker = startWorker(folder, handleJob, {
    findPauseReason: () => {
      checks += 1;
      return reason;
    },
    pauseCheckIntervalMs: 5,
    log: { ...SILENT_LOG, info: recordMessage, warn: recordMessage },
  });
  await expect.poll(() => pages).toBeGreaterThan(2);
  reason = 'one byte is free';
  await expect.poll(async () => (await inbox.job(running)).state).toBe('waiting');
  expect(await inbox.job(running)).toMatchObject({ attempts: 0 });
  const waiting = await enqueueJob(inbox, 'i2');
  const before = checks;
  await expect.poll(() => checks).toBeGreaterThan(before + 10);
  expect(await inbox.at(Date.now()).countJobs()).toMatchObject({ waiting: 2, running: 0 });
  expect(await inbox.job(waiting)).toMatchObject({ attempts: 0, started_at: null });
  isEndless = false;
  reason = null;
  await worker.idle();
  for (const id of [running, waiting]) {
    expect(await inbox.job(id)).toMatchObject({ state: 'done', outcome: 'read', attempts: 1 });
  }
  expect(messages.filter(message => message.startsWith('reads and'))).toEqual([
    'reads and certificates paused; deliveries are still stored',
    'reads and certificates resumed',
  ]);
});

test('a run that hangs does not delay the shutdown, and its job is released', async () => {
  const { folder, inbox } = createInboxFolder();
  const id = await enqueueJob(inbox, 'i1');
  const worker = startWorker(folder, () => new Promise(() => {}), { graceMs: 20 });
  await expect.poll(async () => (await inbox.job(id)).state).toBe('running');
  await worker.stop();
  expect(await inbox.job(id)).toMatchObject({ state: 'waiting', attempts: 0 });
});

test('a run that lost its lease is stopped and does not settle its job', async () => {
  const { folder, inbox } = createInboxFolder();
  const id = await enqueueJob(inbox, 'i1');
  const reasons: unknown[] = [];
  const slow: JobHandler = async ({ signal, yieldTurn }) => {
    signal.addEventListener('abort', () => reasons.push(signal.reason));
    for (;;) {
      await new Promise(resolve => setTimeout(resolve, 1));
      await yieldTurn();
    }
  };
  const worker = startWorker(folder, slow, { leaseMs: 90 });
  await expect.poll(async () => (await inbox.job(id)).state).toBe('running');
  const [taken] = await inbox.claim({ now: Date.now() + 1000, leaseMs: 60_000, slots: 1 });
  await expect.poll(() => worker.countRuns()).toBe(0);
  expect(reasons).toMatchObject([{ code: 'claim_lost' }]);
  expect(await inbox.job(id)).toMatchObject({ state: 'running', claim: taken?.claim });
});

test('a job whose lease expired unclaimed runs again', async () => {
  const { folder, inbox } = createInboxFolder();
  const id = await enqueueJob(inbox, 'i1');
  let runs = 0;
  const worker = startWorker(
    folder,
    async ({ signal }) => {
      if ((runs += 1) > 1) return 'read';
      return await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
    {
      leaseMs: 90,
      inbox: {
        ...createInboxPort(temporaryInbox(folder, 5000), Date.now),
        renew: () => Promise.reject(new Error('locked')),
      },
    },
  );
  await expect.poll(async () => (await inbox.job(id)).state).toBe('done');
  await worker.idle();
  expect(await inbox.job(id)).toMatchObject({ outcome: 'read' });
});

test('a worker that claims its own running job again, after its clock was put forward, stops the earlier run', async () => {
  const { folder, inbox } = createInboxFolder();
  let now = NOON;
  const id = await enqueueJob(inbox, 'i1', now);
  const ended: unknown[] = [];
  const release: ((word: string) => void)[] = [];
  const worker = startWorker(
    folder,
    async ({ job, signal }) => {
      if (job.id !== id) return 'read';
      signal.addEventListener('abort', () => ended.push(signal.reason));
      return await new Promise((resolve, reject) => {
        release.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
    { now: () => now },
  );
  await expect.poll(() => release.length).toBe(1);
  now += 120_000;
  const other = await enqueueJob(inbox, 'other', now);
  await expect.poll(() => release.length).toBe(2);
  await expect.poll(async () => (await inbox.job(other)).state).toBe('done');
  expect(ended).toMatchObject([{ code: 'claim_lost' }]);
  expect([worker.countRuns(), await inbox.job(id)]).toMatchObject([1, { state: 'running' }]);
  release[1]?.('read');
  await expect.poll(async () => (await inbox.job(id)).outcome).toBe('read');
});

test('a lease is renewed while its job runs, and no longer', async () => {
  const { folder, inbox } = createInboxFolder();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const [leaseMs, id] = [60_000, await enqueueJob(inbox, 'i1', NOON)];
  let now = NOON;
  let release: (() => void) | undefined;
  const port = createInboxPort(temporaryInbox(folder, 5000), () => now);
  let renewals = 0;
  const renew: InboxPort['renew'] = (...claims) => {
    renewals += 1;
    return port.renew(...claims);
  };
  const handleJob: JobHandler = () => new Promise(resolve => (release = () => resolve('read')));
  const inboxPort = { ...port, renew };
  const worker = startWorker(folder, handleJob, { leaseMs, now: () => now, inbox: inboxPort });
  await expect.poll(() => release).toBeDefined();
  now += leaseMs / 3;
  vi.advanceTimersByTime(leaseMs / 3);
  const renewed = new Date(now + leaseMs).toISOString();
  await expect.poll(async () => (await inbox.job(id)).claimed_until).toBe(renewed);
  expect(await inbox.job(id)).toMatchObject({ state: 'running', claim: 1 });
  release?.();
  await worker.idle();
  vi.advanceTimersByTime(leaseMs);
  expect(renewals).toBe(1);
});

test('a failure sets the state of the job by the failure rules', async () => {
  const { folder, inbox } = createInboxFolder();
  const cases = { timeout: 'waiting', unauthorized: 'paused', bad_request: 'failed' } as const;
  const ids = await Promise.all(Object.keys(cases).map(code => enqueueJob(inbox, code)));
  const worker = startWorker(folder, async ({ job }) => {
    const code = job.installationId;
    if (code === 'timeout' || code === 'unauthorized' || code === 'bad_request')
      throw new RegistryError(code, 'no');
    return 'read';
  });
  await worker.idle();
  expect(await Promise.all(ids.map(async id => (await inbox.job(id)).state))).toEqual(Object.values(cases));
  expect(await inbox.job(ids[0] ?? 0)).toMatchObject({ error_or_pause_code: 'timeout', last_error: 'no' });
});

test('huge organizations in every slot do not keep small ones waiting', async () => {
  const { folder, inbox } = createInboxFolder();
  const order: string[] = [];
  const handleJob: JobHandler = async ({ job, yieldTurn }) => {
    const id = job.installationId ?? '';
    const pages = id.startsWith('huge') ? 3000 : 3;
    for (let page = 0; page < pages; page++) await yieldTurn();
    order.push(id);
    return 'read';
  };
  for (let id = 0; id < 6; id++) await enqueueJob(inbox, `huge${id}`);
  for (let id = 0; id < 6; id++) await enqueueJob(inbox, `small${id}`);
  const worker = startWorker(folder, handleJob, { concurrency: 2 });
  await worker.idle();
  expect(order).toHaveLength(12);
  expect(order.slice(0, 6).every(id => id.startsWith('small'))).toBe(true);
});

test('a worker claims nothing before it is started', async () => {
  const { folder, inbox } = createInboxFolder();
  await enqueueJob(inbox, 'i1');
  const claims: unknown[] = [];
  const port = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  const claim: InboxPort['claim'] = async request => {
    claims.push(request);
    return port.claim(request);
  };
  const worker = createWorker({
    inbox: { ...port, claim },
    handleJob: async () => 'read',
    concurrency: 1,
    now: Date.now,
    random: () => 0,
    log: SILENT_LOG,
  });
  void worker.idle();
  await new Promise(setImmediate);
  expect(claims).toEqual([]);
});

test('the first success after an outage retries failed jobs first, once, and logs it if there are any', async () => {
  const { folder, inbox } = createInboxFolder();
  let at = Date.now();
  let failedJobs = 0;
  let prioritizations = 0;
  const messages: string[] = [];
  const warnings: string[] = [];
  const port = createInboxPort(temporaryInbox(folder, 5000), () => at);
  const prioritizeFailed = async () => {
    prioritizations += 1;
    return failedJobs;
  };
  let outcome = 'read';
  const worker = startWorker(folder, async () => outcome, {
    inbox: { ...port, prioritizeFailed },
    now: () => at,
    log: {
      ...SILENT_LOG,
      info: (_fields, message) => messages.push(message),
      warn: (_fields, message) => warnings.push(message),
    },
  });
  const runJob = async (id: string, nextOutcome: string, afterMs = 10_000): Promise<number> => {
    outcome = nextOutcome;
    at += afterMs;
    await enqueueJob(inbox, id, at);
    await worker.idle();
    return prioritizations;
  };
  expect(await runJob('i1', 'read')).toBe(1);
  expect(await runJob('i2', 'read')).toBe(1);
  expect(await runJob('i3', `${PARTIAL_READ_PREFIX}: members failed (503)`)).toBe(1);
  expect(messages).not.toContain('registry recovered; retrying failed jobs first');
  expect(messages).toContain('job done');
  failedJobs = 2;
  expect(await runJob('i4', 'read')).toBe(2);
  await runJob('i5', `${PARTIAL_READ_PREFIX}: members failed (503)`);
  expect(await runJob('i6', 'read', 1_000)).toBe(3);
  await runJob('i7', `${PARTIAL_READ_PREFIX}: members failed (503)`, 1_000);
  expect(await runJob('i8', 'read', 1_000)).toBe(3);
  expect(messages).toContain('registry recovered; retrying failed jobs first');
  expect(warnings).toEqual([]);
});

test('a pause and its end are each logged once', async () => {
  const { folder } = createInboxFolder();
  const messages: string[] = [];
  const recordMessage = (_fields: object, message: string) => messages.push(message);
  let reason: string | null = 'the disk is nearly full';
  let checks = 0;
  const findPauseReason = () => {
    checks += 1;
    if (checks === 3) throw new Error('no such disk');
    return reason;
  };
  startWorker(folder, async () => 'read', {
    findPauseReason,
    pauseCheckIntervalMs: 1,
    log: { ...SILENT_LOG, info: recordMessage, warn: recordMessage },
  });
  const waitForChecks = async (times: number) => {
    const target = checks + times;
    await expect.poll(() => checks).toBeGreaterThan(target);
  };
  await waitForChecks(5);
  reason = null;
  await waitForChecks(5);
  expect(messages).toEqual([
    'reads and certificates paused; deliveries are still stored',
    'disk check failed',
    'reads and certificates resumed',
  ]);
});

test('a stopped worker no longer checks whether reads must pause', async () => {
  const { folder } = createInboxFolder();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let checks = 0;
  const findPauseReason = () => {
    checks += 1;
    return null;
  };
  const worker = startWorker(folder, async () => 'read', { findPauseReason, pauseCheckIntervalMs: 1 });
  vi.advanceTimersByTime(1);
  await worker.stop();
  vi.advanceTimersByTime(10);
  expect(checks).toBe(2);
});

test('jobs of a claim that ends after the stop are released', async () => {
  const { folder, inbox } = createInboxFolder();
  const id = await enqueueJob(inbox, 'i1');
  const port = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  let endClaim: (() => void) | undefined;
  const claim: InboxPort['claim'] = async request => {
    const claimed = await port.claim(request);
    await new Promise<void>(resolve => (endClaim = resolve));
    return claimed;
  };
  const worker = startWorker(folder, async () => 'read', { inbox: { ...port, claim } });
  await expect.poll(() => endClaim).toBeDefined();
  expect(await inbox.job(id)).toMatchObject({ state: 'running' });
  const stopped = worker.stop();
  endClaim?.();
  await stopped;
  expect(await inbox.job(id)).toMatchObject({ state: 'waiting', attempts: 0 });
});

test('a long run that has ended leaves no extra slot', async () => {
  const { folder, inbox } = createInboxFolder();
  const releases: (() => void)[] = [];
  const port = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  let claims = 0;
  const claim: InboxPort['claim'] = async request => {
    const claimed = await port.claim(request);
    claims += 1;
    return claimed;
  };
  const handleJob: JobHandler = async ({ job, yieldTurn }) => {
    if (job.installationId === 'long') for (let page = 0; page < 60; page += 1) await yieldTurn();
    else await new Promise<void>(go => releases.push(go));
    return 'read';
  };
  const worker = startWorker(folder, handleJob, { inbox: { ...port, claim }, concurrency: 1 });
  await enqueueJob(inbox, 'long');
  await worker.idle();
  for (const id of ['i1', 'i2']) await enqueueJob(inbox, id);
  await expect.poll(() => releases.length).toBe(1);
  const before = claims;
  void worker.idle();
  await expect.poll(() => claims).toBeGreaterThan(before);
  expect(worker.countRuns()).toBe(1);
  releases.shift()?.();
  await expect.poll(() => releases.length).toBe(1);
  releases.shift()?.();
  await worker.idle();
});

test('stop waits for running jobs, releases them and claims no more', async () => {
  const { folder, inbox } = createInboxFolder();
  const begun: unknown[] = [];
  let ended = 0;
  const handleJob: JobHandler = async ({ job, signal }) => {
    begun.push(job.installationId);
    await new Promise(resolve => signal.addEventListener('abort', resolve));
    for (let turns = 0; turns < 1000; turns += 1) await new Promise(setImmediate);
    ended += 1;
    throw signal.reason;
  };
  const worker = startWorker(folder, handleJob, { concurrency: 1 });
  for (const id of ['i1', 'i2']) await enqueueJob(inbox, id);
  await expect.poll(() => begun.length).toBe(1);
  await worker.stop();
  expect({ begun, ended }).toEqual({ begun: ['i1'], ended: 1 });
  expect(await inbox.db.column('SELECT state FROM jobs')).toEqual(['waiting', 'waiting']);
});

test('a new job runs beside a long run that holds the only slot', async () => {
  const { folder, inbox } = createInboxFolder();
  const ended: unknown[] = [];
  let turns = 0;
  const handleJob: JobHandler = async ({ job, yieldTurn }) => {
    // The long run ends only after the small one, so the order cannot depend on the speed of the machine.
    if (job.installationId === 'long') for (; !ended.includes('small'); turns += 1) await yieldTurn();
    ended.push(job.installationId);
    return 'read';
  };
  const worker = startWorker(folder, handleJob, { concurrency: 1 });
  await enqueueJob(inbox, 'long');
  await expect.poll(() => turns).toBeGreaterThan(60);
  await enqueueJob(inbox, 'small');
  await worker.idle();
  expect(ended).toEqual(['small', 'long']);
});
