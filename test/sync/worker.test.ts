import { expect, onTestFinished, test, vi } from 'vitest';
import { PARTIAL_READ, installationJob } from '../../src/inbox/job.js';
import { createInboxPort } from '../../src/store/sqlite/inbox/inbox.js';
import type { InboxPort } from '../../src/inbox/port.js';
import { type Box, boxOf } from '../support/box.js';
import { RegistryError } from '../../src/registry/errors.js';
import type { JobHandler } from '../../src/sync/worker/execute-job.js';
import { createWorker, type Worker, type WorkerOptions } from '../../src/sync/worker/worker.js';
import { acceptedDelivery, NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

/** By a connection of its own to the same file, as another process has it. */
function startWorker(folder: string, handleJob: JobHandler, overrides: Partial<WorkerOptions> = {}): Worker {
  const db = temporaryInbox(folder, 5000);
  const worker = createWorker({
    inbox: createInboxPort(db, overrides.now ?? Date.now),
    handleJob,
    concurrency: 4,
    now: Date.now,
    random: () => 0,
    log: QUIET,
    ...overrides,
  });
  onTestFinished(() => worker.stop());
  worker.start();
  return worker;
}

function newInbox(): { folder: string; inbox: Box } {
  const folder = temporaryFolder();
  return { folder, inbox: boxOf(temporaryInbox(folder)) };
}

const ask = (inbox: Pick<Box, 'enqueue'>, id: string, now = Date.now()) =>
  inbox.enqueue(installationJob(id, null, 'delivery'), now);

test('a worker wakes for a delivery that another connection stored', async () => {
  const { folder, inbox } = newInbox();
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

test('a worker at rest wakes for a job that its own process asks for', async () => {
  const { folder } = newInbox();
  const inbox = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  const done: (string | null)[] = [];
  const handleJob: JobHandler = async ({ job }) => {
    done.push(job.installationId);
    return 'read';
  };
  startWorker(folder, handleJob, { inbox });
  await inbox.enqueue([installationJob('i8', null, 'delivery')]);
  await expect.poll(() => done, { timeout: 3000 }).toEqual(['i8']);
});

test('a worker is idle for whoever asks once it has looked after that, not by a look that was under way', async () => {
  const { folder } = newInbox();
  const inbox = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  const looked: (() => void)[] = [];
  const slow: InboxPort = {
    ...inbox,
    claim: async wanted => {
      const found = await inbox.claim(wanted);
      await new Promise<void>(resolve => looked.push(resolve));
      return found;
    },
  };
  const done: (string | null)[] = [];
  const handleJob: JobHandler = async ({ job }) => {
    done.push(job.installationId);
    return 'read';
  };
  const worker = startWorker(folder, handleJob, { inbox: slow });
  await expect.poll(() => looked.length).toBe(1);
  await inbox.enqueue([installationJob('i9', null, 'person')]);
  const seen = worker.idle().then(() => [...done]);
  const letGo = setInterval(() => looked.shift()?.(), 5);
  onTestFinished(() => clearInterval(letGo));
  expect(await seen).toEqual(['i9']);
});

test('T63 with four workers no installation is ever worked on twice at once, and nothing is left over', async () => {
  const { folder, inbox } = newInbox();
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
  for (let id = 0; id < 40; id++) await ask(inbox, `i${id}`);
  const workers = [1, 2, 3, 4].map(() => startWorker(folder, handleJob));
  for (let id = 0; id < 40; id++) await ask(inbox, `i${id}`);
  await Promise.all(workers.map(worker => worker.idle()));
  await expect.poll(async () => (await inbox.at(Date.now()).countJobs()).waiting).toBe(0);
  await Promise.all(workers.map(worker => worker.idle()));
  expect(clashes).toEqual([]);
  expect(new Set(done).size).toBe(40);
});

test('T63 the control: without claims two workers do clash', async () => {
  const { folder, inbox } = newInbox();
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
  await ask(inbox, 'i1');
  const ahead = createInboxPort(temporaryInbox(folder, 5000), () => Date.now() + 1e9);
  const careless: InboxPort = {
    ...createInboxPort(temporaryInbox(folder, 5000), Date.now),
    claim: ({ parts }) => ahead.claim({ parts, leaseMs: -1e9 }),
  };
  const workers = [1, 2].map(() => startWorker(folder, handleJob, { inbox: careless }));
  await expect.poll(() => clashes.length).toBeGreaterThan(0);
  await Promise.all(workers.map(worker => worker.stop()));
});

test('T64 a job whose process dies every time has failed after its attempts, where people see it', async () => {
  const { folder, inbox } = newInbox();
  let now = NOON;
  const id = await ask(inbox, 'i1', now);
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
      log: QUIET,
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
  'a job that comes due while the worker looks around is not slept through (%i ms after it began)',
  async after => {
    const { folder, inbox } = newInbox();
    let clock = NOON;
    await inbox.enqueue({ ...installationJob('i1', null, 'delivery'), startDelayMs: after }, clock);
    const done: string[] = [];
    const handleJob: JobHandler = async ({ job }) => {
      done.push(job.dedupeKey);
      return 'read';
    };
    startWorker(folder, handleJob, { now: () => clock++ });
    await expect.poll(() => done.length, { timeout: 2000, interval: 2 }).toBe(1);
  },
);

test('a shutdown ends the run at its next page and gives the job back for the next process', async () => {
  const { folder, inbox } = newInbox();
  const id = await ask(inbox, 'i1');
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

test('T21 while the disk is nearly full nothing is claimed and what runs is given back, until there is space', async () => {
  const { folder, inbox } = newInbox();
  const running = await ask(inbox, 'i1');
  let reason: string | null = null;
  let pages = 0;
  let isEndless = true;
  let looks = 0;
  const told: string[] = [];
  const tell = (_fields: object, message: string) => told.push(message);
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
      looks += 1;
      return reason;
    },
    pauseCheckIntervalMs: 5,
    log: { ...QUIET, info: tell, warn: tell },
  });
  await expect.poll(() => pages).toBeGreaterThan(2);
  reason = 'one byte is free';
  await expect.poll(async () => (await inbox.job(running)).state).toBe('waiting');
  expect(await inbox.job(running)).toMatchObject({ attempts: 0 });
  const asked = await ask(inbox, 'i2');
  const before = looks;
  await expect.poll(() => looks).toBeGreaterThan(before + 10);
  expect(await inbox.at(Date.now()).countJobs()).toMatchObject({ waiting: 2, running: 0 });
  expect(await inbox.job(asked)).toMatchObject({ attempts: 0, started_at: null });
  isEndless = false;
  reason = null;
  await worker.idle();
  for (const id of [running, asked]) {
    expect(await inbox.job(id)).toMatchObject({ state: 'done', outcome: 'read', attempts: 1 });
  }
  expect(told.filter(message => message.startsWith('reads and'))).toEqual([
    'reads and certificates paused; deliveries are still stored',
    'reads and certificates resumed',
  ]);
});

test('a run that hangs in a call does not hold up the shutdown, and its job is given back', async () => {
  const { folder, inbox } = newInbox();
  const id = await ask(inbox, 'i1');
  const worker = startWorker(folder, () => new Promise(() => {}), { graceMs: 20 });
  await expect.poll(async () => (await inbox.job(id)).state).toBe('running');
  await worker.stop();
  expect(await inbox.job(id)).toMatchObject({ state: 'waiting', attempts: 0 });
});

test('a run whose lease was lost is stopped and settles nothing', async () => {
  const { folder, inbox } = newInbox();
  const id = await ask(inbox, 'i1');
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

test('a job whose lease nobody renewed and nobody took is done again', async () => {
  const { folder, inbox } = newInbox();
  const id = await ask(inbox, 'i1');
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

test('a worker that takes its own job anew, by a clock that was put forward, ends the run before and keeps the later one', async () => {
  const { folder, inbox } = newInbox();
  let now = NOON;
  const id = await ask(inbox, 'i1', now);
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
  const other = await ask(inbox, 'other', now);
  await expect.poll(() => release.length).toBe(2);
  await expect.poll(async () => (await inbox.job(other)).state).toBe('done');
  expect(ended).toMatchObject([{ code: 'claim_lost' }]);
  expect([worker.countRuns(), await inbox.job(id)]).toMatchObject([1, { state: 'running' }]);
  release[1]?.('read');
  await expect.poll(async () => (await inbox.job(id)).outcome).toBe('read');
});

test('a lease is renewed for as long as the work goes on', async () => {
  const { folder, inbox } = newInbox();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const [leaseMs, id] = [60_000, await ask(inbox, 'i1', NOON)];
  let now = NOON;
  let release: (() => void) | undefined;
  startWorker(folder, () => new Promise(resolve => (release = () => resolve('read'))), {
    leaseMs,
    now: () => now,
  });
  await expect.poll(() => release).toBeDefined();
  now += leaseMs / 3;
  vi.advanceTimersByTime(leaseMs / 3);
  const renewed = new Date(now + leaseMs).toISOString();
  await expect.poll(async () => (await inbox.job(id)).claimed_until).toBe(renewed);
  expect(await inbox.job(id)).toMatchObject({ state: 'running', claim: 1 });
  release?.();
});

test('what fails goes through the table of outcomes into the row', async () => {
  const { folder, inbox } = newInbox();
  const cases = { timeout: 'waiting', unauthorized: 'paused', bad_request: 'failed' } as const;
  const ids = await Promise.all(Object.keys(cases).map(code => ask(inbox, code)));
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

test('a huge organization in every place does not keep a small one waiting', async () => {
  const { folder, inbox } = newInbox();
  const order: string[] = [];
  const handleJob: JobHandler = async ({ job, yieldTurn }) => {
    const id = job.installationId ?? '';
    const pages = id.startsWith('huge') ? 3000 : 3;
    for (let page = 0; page < pages; page++) await yieldTurn();
    order.push(id);
    return 'read';
  };
  for (let id = 0; id < 6; id++) await ask(inbox, `huge${id}`);
  for (let id = 0; id < 6; id++) await ask(inbox, `small${id}`);
  const worker = startWorker(folder, handleJob, { concurrency: 2 });
  await worker.idle();
  expect(order).toHaveLength(12);
  expect(order.slice(0, 6).every(id => id.startsWith('small'))).toBe(true);
});

test('before it is started a worker takes nothing, whoever asks whether it is idle', async () => {
  const { folder, inbox } = newInbox();
  await ask(inbox, 'i1');
  const claims: unknown[] = [];
  const port = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  const claim: InboxPort['claim'] = async wanted => {
    claims.push(wanted);
    return port.claim(wanted);
  };
  const worker = createWorker({
    inbox: { ...port, claim },
    handleJob: async () => 'read',
    concurrency: 1,
    now: Date.now,
    random: () => 0,
    log: QUIET,
  });
  void worker.idle();
  await new Promise(setImmediate);
  expect(claims).toEqual([]);
});

test('from the first good answer after one that failed what failed comes first, once, and it is said where there is any', async () => {
  const { folder, inbox } = newInbox();
  let at = Date.now();
  let left = 0;
  let asked = 0;
  const said: string[] = [];
  const port = createInboxPort(temporaryInbox(folder, 5000), () => at);
  const tryFirst = async () => {
    asked += 1;
    return left;
  };
  let word = 'read';
  const worker = startWorker(folder, async () => word, {
    inbox: { ...port, prioritizeFailed: tryFirst },
    now: () => at,
    log: { ...QUIET, info: (_fields, message) => said.push(message) },
  });
  const look = async (id: string, says: string, afterMs = 10_000): Promise<number> => {
    word = says;
    at += afterMs;
    await ask(inbox, id, at);
    await worker.idle();
    return asked;
  };
  expect(await look('i1', 'read')).toBe(1);
  expect(await look('i2', 'read')).toBe(1);
  expect(await look('i3', `${PARTIAL_READ}: members failed (503)`)).toBe(1);
  expect(said).not.toContain('registry recovered; retrying failed jobs first');
  expect(said).toContain('job done');
  left = 2;
  expect(await look('i4', 'read')).toBe(2);
  await look('i5', `${PARTIAL_READ}: members failed (503)`);
  expect(await look('i6', 'read', 1_000)).toBe(3);
  await look('i7', `${PARTIAL_READ}: members failed (503)`, 1_000);
  expect(await look('i8', 'read', 1_000)).toBe(3);
  expect(said).toContain('registry recovered; retrying failed jobs first');
});

test('a pause is told once, and so is its end, however often it is looked at', async () => {
  const { folder } = newInbox();
  const told: string[] = [];
  const tell = (_fields: object, message: string) => told.push(message);
  let reason: string | null = 'the disk is nearly full';
  let looks = 0;
  const findPauseReason = () => {
    looks += 1;
    if (looks === 3) throw new Error('no such disk');
    return reason;
  };
  startWorker(folder, async () => 'read', {
    findPauseReason,
    pauseCheckIntervalMs: 1,
    log: { ...QUIET, info: tell, warn: tell },
  });
  const looked = async (times: number) => {
    const until = looks + times;
    await expect.poll(() => looks).toBeGreaterThan(until);
  };
  await looked(5);
  reason = null;
  await looked(5);
  expect(told).toEqual([
    'reads and certificates paused; deliveries are still stored',
    'disk check failed',
    'reads and certificates resumed',
  ]);
});

test('a long run that has ended leaves no place more than there are', async () => {
  const { folder, inbox } = newInbox();
  const letGo: (() => void)[] = [];
  const port = createInboxPort(temporaryInbox(folder, 5000), Date.now);
  let claims = 0;
  const claim: InboxPort['claim'] = async wanted => {
    const claimed = await port.claim(wanted);
    claims += 1;
    return claimed;
  };
  const handleJob: JobHandler = async ({ job, yieldTurn }) => {
    if (job.installationId === 'long') for (let page = 0; page < 60; page += 1) await yieldTurn();
    else await new Promise<void>(go => letGo.push(go));
    return 'read';
  };
  const worker = startWorker(folder, handleJob, { inbox: { ...port, claim }, concurrency: 1 });
  await ask(inbox, 'long');
  await worker.idle();
  for (const id of ['i1', 'i2']) await ask(inbox, id);
  await expect.poll(() => letGo.length).toBe(1);
  const before = claims;
  void worker.idle();
  await expect.poll(() => claims).toBeGreaterThan(before);
  expect(worker.countRuns()).toBe(1);
  letGo.shift()?.();
  await expect.poll(() => letGo.length).toBe(1);
  letGo.shift()?.();
  await worker.idle();
});

test('a stop waits for what runs, gives it back, and takes nothing more', async () => {
  const { folder, inbox } = newInbox();
  const begun: unknown[] = [];
  let ended = 0;
  const handleJob: JobHandler = async ({ job, signal }) => {
    begun.push(job.installationId);
    await new Promise(resolve => signal.addEventListener('abort', resolve));
    for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
    ended += 1;
    throw signal.reason;
  };
  const worker = startWorker(folder, handleJob, { concurrency: 1 });
  for (const id of ['i1', 'i2']) await ask(inbox, id);
  await expect.poll(() => begun.length).toBe(1);
  await worker.stop();
  expect({ begun, ended }).toEqual({ begun: ['i1'], ended: 1 });
  expect(await inbox.db.column('SELECT state FROM jobs')).toEqual(['waiting', 'waiting']);
});

test('a new job runs beside a long run that holds the only slot', async () => {
  const { folder, inbox } = newInbox();
  const ended: unknown[] = [];
  let turns = 0;
  const handleJob: JobHandler = async ({ job, yieldTurn }) => {
    // The long run ends only after the small one, so the order cannot depend on the speed of the machine.
    if (job.installationId === 'long') for (; !ended.includes('small'); turns += 1) await yieldTurn();
    ended.push(job.installationId);
    return 'read';
  };
  const worker = startWorker(folder, handleJob, { concurrency: 1 });
  await ask(inbox, 'long');
  await expect.poll(() => turns).toBeGreaterThan(60);
  await ask(inbox, 'small');
  await worker.idle();
  expect(ended).toEqual(['small', 'long']);
});
