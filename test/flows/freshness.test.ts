import { describe, expect, inject, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { enqueueTick } from '../../src/sync/schedule/tick-schedule.js';
import { toNewDelivery, acceptedDelivery } from '../support/inbox.js';
import { startInstalled } from '../support/program.js';
import { runCommand } from '../support/command.js';
import { visitConsole } from '../support/console.js';
import { createOrganization } from '../support/sandbox.js';
import { chooseLength } from '../support/long.js';
import { createRandom, pick } from '../support/random.js';
import { listSeeds } from '../support/seeds.js';
import { playFlood, startWatched, type WatchedProgram } from '../support/watched-program.js';

async function all(scene: WatchedProgram): Promise<string[]> {
  return (await scene.freshness()).map(({ resource }) => resource);
}

/** All resources but projects, which no webhook announces. */
async function announced(scene: WatchedProgram): Promise<string[]> {
  return (await all(scene)).filter(resource => resource !== 'projects');
}

describe('a delivery that no read has answered', () => {
  test('a slow worker makes resources stale after a minute, until it has read them', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.work(false);
    await scene.announce();
    await scene.pass(58);
    expect(await scene.resources('unread_webhook')).toEqual([]);
    expect((await scene.freshness())[0]?.oldest_unread_at).toMatch(/Z$/);
    await scene.pass(4);
    expect(await scene.resources('unread_webhook')).toEqual(await announced(scene));
    await scene.read();
    expect(await scene.resources('fresh')).toEqual(await all(scene));
  });

  test('freshness differs between a resource that was read and one that was not', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.work(false);
    await scene.announce();
    await scene.pass(90);
    await scene.program.change(
      "UPDATE resource_states SET as_of = ? WHERE resource = 'warehouse'",
      new Date(scene.program.time.now()).toISOString(),
    );
    expect(await scene.resources('fresh')).toEqual(['projects', 'warehouse']);
    await scene.pass(15);
    expect(await scene.resources('fresh')).toEqual(['projects', 'warehouse']);
  });

  test('a delivery during a long read still waits after that read, which answers earlier deliveries only', async () => {
    const scene = await startWatched();
    const { program } = scene;
    await scene.watch(true);
    await scene.work(false);
    await scene.announce();
    await scene.pass(30);
    const began = new Date(program.time.now()).toISOString();
    await scene.pass(5);
    await scene.announce();
    await scene.pass(70);
    await program.change("UPDATE resource_states SET as_of = ? WHERE resource = 'warehouse'", began);
    await scene.pass(15);
    const warehouse = (await scene.freshness()).find(({ resource }) => resource === 'warehouse');
    const oldest = 'SELECT min(received_at) FROM deliveries WHERE received_at >= ?';
    const arrived = await program.value(oldest, began);
    expect(warehouse).toMatchObject({ state: 'unread_webhook', oldest_unread_at: arrived });
  });

  test('a flood of deliveries leaves an installation fresh if it is read, and stale if it is not', async () => {
    const read = await startWatched();
    await read.watch(true);
    expect(await playFlood(read, true)).toEqual(new Set(['fresh']));
    const unread = await startWatched();
    await unread.watch(true);
    expect(await playFlood(unread, false)).toEqual(new Set(['fresh', 'unread_webhook']));
  });

  test('duplicates and replays leave an installation fresh if they are read', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    const { inbox, time, value } = scene.program;
    const sha256 = await value<string>('SELECT signed_text_sha256 FROM deliveries ORDER BY id DESC');
    for (let second = 0; second < 90; second += 10) {
      await scene.pass(10);
      const receivedAt = time.now();
      const again = { receivedAt, installationId: scene.installationId, sha256: sha256 ?? '' };
      const delivery = toNewDelivery(receivedAt, acceptedDelivery(again));
      await inbox.store([delivery, delivery]);
      await scene.read();
      expect(await scene.resources('fresh')).toEqual(await all(scene));
    }
  });

  test('certificates stay fresh without a job if no retirement changed after a delivery', async () => {
    const scene = await startWatched();
    await scene.announce();
    await scene.read();
    await scene.watch(true);
    await scene.pass(60);
    const walked = async () =>
      (await scene.freshness()).find(({ resource }) => resource === 'certificates')?.as_of;
    const before = await walked();
    scene.program.registry.credits.withdraw(scene.organizationId, { creditId: scene.creditId, amount: 1 });
    await scene.program.registry.deliveries.waitUntilSettled();
    await scene.read();
    for (let seconds = 0; seconds < 120; seconds += 30) {
      await scene.pass(30);
      expect(await scene.resources('unread_webhook')).toEqual([]);
    }
    expect(await walked()).toBe(before);
  });

  test('a lost webhook does not make anything stale', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    scene.program.registry.deliveries.changeSettings({ drop: 10 });
    await scene.announce();
    await scene.pass(90);
    expect(await scene.resources('fresh')).toEqual(await all(scene));
  });

  test('ignored deliveries and deliveries for unknown or old installations make nothing stale', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.work(false);
    const { inbox, registry, app, time } = scene.program;
    const aside = { verdict: 'ignored', reason: 'another app' } as const;
    const receivedAt = time.now();
    const came = [
      acceptedDelivery({ receivedAt, installationId: scene.installationId, ...aside }),
      acceptedDelivery({ receivedAt, installationId: 'unknown' }),
      acceptedDelivery({ receivedAt, installationId: null, ...aside }),
    ];
    await inbox.store(came.map(each => toNewDelivery(receivedAt, each)));
    await scene.pass(90);
    expect(await scene.resources('waiting')).toEqual(['*']);
    expect(['*', ...(await scene.resources('fresh'))]).toEqual(await all(scene));
    await scene.work(true);
    registry.installations.uninstall(scene.installationId);
    await registry.deliveries.waitUntilSettled();
    await scene.read();
    registry.installations.install(app.id, scene.organizationId);
    await registry.deliveries.waitUntilSettled();
    await scene.read();
    await scene.work(false);
    const again = acceptedDelivery({ receivedAt: time.now(), installationId: scene.installationId });
    await inbox.store([toNewDelivery(time.now(), again)]);
    await scene.pass(90);
    expect(await scene.resources('fresh')).toEqual(await all(scene));
  });

  test('a paused job makes its resources stale until a later complete read', async () => {
    const scene = await startWatched();
    const { registry, inbox } = scene.program;
    await scene.watch(true);
    registry.faults.add({ path: '/app/installations/*', kind: 'status', options: { status: 401 } });
    await scene.announce();
    await scene.read();
    await expect.poll(async () => (await inbox.countJobs()).paused).toBe(1);
    await scene.pass(80);
    expect(await scene.resources('unread_webhook')).toEqual(await announced(scene));
    registry.faults.clear();
    await scene.announce();
    await scene.read();
    expect(await scene.resources('fresh')).toEqual(await all(scene));
  });
});

describe('whether a worker is running', () => {
  test('a dead worker makes everything stale after at most 75 seconds, even if no delivery waits', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.pass(60);
    await scene.watch(false);
    await scene.work(false);
    await scene.pass(58);
    expect(await scene.resources('fresh')).toEqual(await all(scene));
    await scene.pass(4);
    expect(await scene.resources('worker_gone')).toEqual(await announced(scene));
  });

  test('a worker that died during its reads, after its last heartbeat, is detected too', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.pass(12);
    await scene.announce();
    await scene.read();
    await scene.watch(false);
    await scene.work(false);
    await scene.pass(75);
    expect(await scene.resources('worker_gone')).toEqual(await announced(scene));
  });

  test('a restarted worker is not fresh before it has answered the deliveries of the meantime', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.pass(30);
    await scene.watch(false);
    await scene.work(false);
    await scene.pass(100);
    await scene.announce();
    await scene.pass(500);
    await scene.watch(true);
    expect(await scene.resources('unread_webhook')).toEqual(await announced(scene));
    await scene.read();
    expect(await scene.resources('fresh')).toEqual(await all(scene));
  });

  test('a mirror synced by cron, without a worker, is never stale because of waiting deliveries', async () => {
    const scene = await startWatched();
    await scene.work(false);
    for (let turn = 0; turn < 3; turn++) {
      await scene.announce();
      await scene.pass(290);
      expect(await scene.resources('fresh')).toEqual(await all(scene));
      await scene.read();
    }
  });

  test('a read by cron after the last worker ended makes the mirror fresh again', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.watch(false);
    await scene.work(false);
    await scene.announce();
    await scene.pass(100);
    expect(await scene.resources('fresh')).toEqual(['projects']);
    await scene.reconcile();
    await scene.pass(300);
    expect(await scene.resources('unread_webhook')).toEqual([]);
  });

  test('a clock that is set back hides no delivery, and its traces end with the next read', async () => {
    const scene = await startWatched();
    const { time } = scene.program;
    time.move(3_600_000);
    await scene.watch(true);
    await scene.announce();
    await scene.read();
    await scene.pass(15);
    time.move(-3_600_000);
    expect(await scene.resources('fresh')).toEqual([]);
    await scene.work(false);
    await scene.pass(15);
    await scene.announce();
    await scene.pass(90);
    expect(await scene.resources('fresh')).toEqual(['projects']);
    await scene.read();
    expect(await scene.resources('fresh')).toContain('warehouse');
    await scene.pass(3700);
    await scene.reconcile();
    expect(await scene.resources('unread_webhook')).toEqual([]);
  });
});

test('freshness facts written by a clock that was ahead are ignored once it is corrected, and hide no later delivery', async () => {
  const scene = await startWatched();
  const { time } = scene.program;
  time.move(3_600_000);
  await scene.watch(true);
  await scene.watch(false);
  time.move(-3_600_000);
  expect(await scene.resources('clock_changed')).toEqual(await all(scene));
  await scene.work(false);
  await scene.announce();
  await scene.pass(100);
  await scene.watch(true);
  expect(await scene.resources('unread_webhook')).toEqual(await announced(scene));
});

/** The states left by a worker that was stopped during a read. */
const INTERRUPTED: readonly string[] = ['read_failed', 'read_interrupted', 'being_read'];

const OLDEST_UNREAD_SQL = `SELECT min(at) FROM (
    SELECT received_at AS at, installation_id, verdict FROM deliveries
    UNION ALL SELECT unread_duplicate_at, installation_id, verdict FROM deliveries) AS posts
  WHERE installation_id = ? AND verdict = 'accepted' AND at >= ?`;

/** Expects each state to match its definition, computed from the inbox. */
async function expectDefinedStates(scene: WatchedProgram): Promise<void> {
  const { program, installationId } = scene;
  const now = program.time.now();
  const since = (instant: string) => (now - Date.parse(instant)) / 1000;
  const lastLook = scene.lastRecordedAt();
  const rows = await scene.freshness();
  for (const { resource, state, as_of: dataAsOf } of rows) {
    const name = resource === 'certificates' ? 'retirements' : resource;
    const read = rows.find(row => row.resource === name)?.as_of ?? '';
    const waiting = (await program.value<string | null>(OLDEST_UNREAD_SQL, installationId, read)) ?? null;
    const isWatched = lastLook !== null && lastLook / 1000 + 20 > Date.parse(dataAsOf) / 1000;
    const isAlone = isWatched && (now - lastLook) / 1000 > 60;
    const waits = waiting === null ? 0 : since(waiting);
    const details = { resource, state, waits, isAlone, sinceLook: lastLook === null ? null : now - lastLook };
    if (INTERRUPTED.includes(state)) continue;
    if (resource === 'projects') {
      expect(state, JSON.stringify(details)).toBe('fresh');
      continue;
    }
    expect(['fresh', 'unread_webhook', 'worker_gone', 'overdue'], JSON.stringify(details)).toContain(state);
    if (state === 'unread_webhook') expect(waits, JSON.stringify(details)).toBeGreaterThan(59);
    if (state === 'worker_gone') expect(isAlone, JSON.stringify(details)).toBe(true);
    const mustShow = isAlone ? (now - lastLook) / 1000 > 61 : isWatched && waits > 76;
    if (mustShow) expect(['unread_webhook', 'worker_gone'], JSON.stringify(details)).toContain(state);
  }
}

const STEPS = 24;

test.each(listSeeds(chooseLength(1, 2), inject('keptIn') === 'PostgreSQL' ? 3 : 1))(
  'P04 freshness agrees with the inbox (seed %i)',
  async seed => {
    const random = createRandom(seed);
    const scene = await startWatched();
    const steps: readonly (() => Promise<void>)[] = [
      () => scene.pass(Math.floor(random() * 50)),
      () => scene.pass(Math.floor(random() * 120)),
      () => scene.announce(),
      () => scene.announce(),
      async () => {
        scene.program.registry.deliveries.changeSettings({ duplicate: 3 });
        await scene.announce();
      },
      () => scene.read(),
      () => scene.work(true).then(() => scene.read()),
      () => scene.work(false),
      () => scene.watch(random() < 0.7),
      () => scene.watch(true),
    ];
    for (let step = 0; step < STEPS; step++) {
      await pick(random, steps)?.();
      await expectDefinedStates(scene);
    }
  },
);

interface DoctorFinding {
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly todo: string | null;
}

/** Returns how doctor, status and the console report overdue deliveries and jobs. */
async function readOverdueReports({ program }: WatchedProgram) {
  const { env, time, engine } = program;
  const run = async (...argv: string[]) => await runCommand(argv, { env, now: time.now });
  const doctor = await run('doctor', '--json');
  const findings: DoctorFinding[] = JSON.parse(doctor.stdout);
  const { open } = await visitConsole(engine.openReader, { now: time.now });
  return {
    exitCode: doctor.exitCode,
    findingsOf: (check: string) => findings.filter(finding => finding.check === check),
    status: (await run('status')).stdout,
    now: await (await open('/')).text(),
  };
}

describe('T98 overdue deliveries and jobs', () => {
  test('T98 a delivery that is unread for a minute fails doctor, and every page and command leads to it', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.work(false);
    await scene.announce();
    await scene.pass(50);
    expect((await readOverdueReports(scene)).findingsOf('backlog')).toEqual([]);
    await scene.pass(30);
    const { exitCode, findingsOf: of, status, now } = await readOverdueReports(scene);
    const id = await scene.program.value<number>('SELECT max(id) FROM deliveries');
    expect(exitCode).toBe(3);
    expect(of('backlog')).toMatchObject([
      {
        state: 'fail',
        found: expect.stringMatching(/^A delivery is unread, and has waited for \d+ s/),
        todo: `It has not failed: it is waiting for its turn. See "carbon-mirror deliveries show ${id}".`,
      },
    ]);
    expect(status).toContain(`carbon-mirror deliveries show ${id}`);
    expect(now).toMatch(new RegExp(`A delivery is unread.*<a href="/deliveries/${id}">`));
    expect(now).not.toContain('carbon-mirror doctor');
    await scene.read();
    expect((await readOverdueReports(scene)).findingsOf('backlog')).toEqual([]);
  });

  test('T98 the error of a failed read is shown, for one resource or for all', async () => {
    for (const path of ['/organizations/*/retirements', '/app/installations/*']) {
      const scene = await startWatched();
      await scene.watch(true);
      const fault = { kind: 'status', options: { status: 503 } };
      scene.program.registry.faults.add({ path, ...fault });
      await scene.announce();
      await scene.program.rest();
      await scene.work(false);
      await scene.pass(90);
      const { exitCode, findingsOf: of, status, now } = await readOverdueReports(scene);
      expect(exitCode).toBe(3);
      expect(of('backlog')[0]?.found, path).toMatch(/^A delivery is unread, .*503/);
      expect(of('jobs')).toMatchObject([{ state: 'warn', todo: expect.stringMatching(/jobs show \d+/) }]);
      for (const text of [status, now]) expect(text, path).toMatch(/A delivery is unread[^\n]*503/);
    }
  });

  test('T98 a suspended installation is never overdue', async () => {
    const scene = await startWatched();
    await scene.watch(true);
    await scene.work(false);
    await scene.announce();
    await scene.pass(30);
    scene.program.registry.installations.suspend(scene.installationId);
    await scene.read();
    await scene.pass(90);
    expect((await scene.freshness())[0]).toMatchObject({ state: 'suspended' });
    expect((await readOverdueReports(scene)).findingsOf('backlog')).toEqual([]);
  });

  test('T98 scheduled work fails doctor only once it is older than its interval', async () => {
    const scene = await startWatched();
    const { inbox, time } = scene.program;
    await enqueueTick(inbox, time.now(), time.now());
    await scene.program.rest();
    await scene.work(false);
    await scene.watch(true);
    await inbox.enqueue([createInstallationJob(scene.installationId, scene.organizationId, 'schedule')]);
    await scene.pass(60);
    const before = await readOverdueReports(scene);
    expect(before.findingsOf('backlog')).toEqual([]);
    await scene.pass(900);
    const { exitCode, findingsOf: of, now, status } = await readOverdueReports(scene);
    const id = await scene.program.value<number>("SELECT max(id) FROM jobs WHERE state = 'waiting'");
    expect(exitCode).toBe(3);
    expect(of('backlog').map(({ found }) => found)).toEqual([
      expect.stringMatching(/^Scheduled work is older than its interval, and has waited for \d+ min/),
      expect.stringMatching(/^The jobs in the queue do not move: the oldest has waited for \d+ min/),
    ]);
    expect(now).toMatch(new RegExp(`Scheduled work is older.*<a href="/jobs/${id}">`));
    expect(status).toContain(`carbon-mirror jobs show ${id}`);
  });

  test('T98 a queue whose jobs still finish is not reported as stalled', async () => {
    const scene = await startWatched();
    const { inbox, change } = scene.program;
    const ask = (key: string) => inbox.enqueue([{ kind: 'discover', dedupeKey: key, trigger: 'worker' }]);
    await scene.work(false);
    await ask('first');
    await scene.pass(660);
    await ask('second');
    await scene.pass(660);
    expect((await readOverdueReports(scene)).findingsOf('backlog')).toHaveLength(1);
    const at = new Date(scene.program.time.now() - 1000).toISOString();
    await change(
      "UPDATE jobs SET state = 'done', started_at = ?, finished_at = ? WHERE dedupe_key = 'first'",
      at,
      at,
    );
    expect((await readOverdueReports(scene)).findingsOf('backlog')).toEqual([]);
  });
});

describe('after an outage', () => {
  test('the first success after an outage retries all failed jobs at once, including those that failed for good', async () => {
    const { program, installationId } = await startInstalled();
    const { registry, app, inbox, time, rows, change } = program;
    const ids = [installationId];
    for (const name of ['one', 'two', 'three']) {
      const { id } = createOrganization(program.sandbox, name);
      ids.push(registry.installations.install(app.id, id).id);
    }
    await program.rest();
    registry.faults.add({ path: '/**', kind: 'status', options: { status: 503 } });
    await inbox.enqueue(ids.map(id => createInstallationJob(id, null, 'person')));
    for (const waitMs of [0, 5000, 9000, 17_000, 33_000]) {
      time.move(waitMs);
      await program.rest();
    }
    const sql = "SELECT state FROM jobs WHERE state IN ('waiting', 'failed') AND attempts > 5";
    await change(
      "UPDATE jobs SET state = 'failed', finished_at = run_at WHERE state = 'waiting' AND installation_id = ?",
      installationId,
    );
    expect(await rows(sql)).toHaveLength(4);
    registry.faults.clear();
    await inbox.enqueue([{ kind: 'discover', dedupeKey: 'discover', trigger: 'worker' }]);
    await expect
      .poll(() => rows("SELECT id FROM jobs WHERE state IN ('waiting', 'running', 'failed')"))
      .toEqual([]);
  });

  test('the number of jobs left to retry is shown, and a job whose data was read since is not failed', async () => {
    const { program, installationId } = await startInstalled();
    const { inbox, env, time, engine, change } = program;
    await program.worker().stop();
    await inbox.enqueue([createInstallationJob(installationId, null, 'schedule')]);
    await change(
      "UPDATE jobs SET attempts = 7, run_at = '2999-01-01T00:00:00.000Z', error_or_pause_code = 'unavailable', last_error = 'answered 503' WHERE state = 'waiting'",
    );
    expect(await inbox.prioritizeFailed(['unavailable'])).toBe(1);
    const { open } = await visitConsole(engine.openReader, { now: time.now });
    const status = async () => (await runCommand(['status'], { env, now: time.now })).stdout;
    const now = async () => await (await open('/')).text();
    expect(await status()).toContain('1 job that failed is waiting. The registry answers again');
    expect(await now()).toContain('1 job that failed is waiting');
    await change(
      "UPDATE jobs SET state = 'failed', started_at = ?, finished_at = ? WHERE state = 'waiting'",
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z',
    );
    expect(await status()).toContain('0 failed');
    expect(await now()).not.toContain('job has failed');
    await change("UPDATE jobs SET started_at = '2999-01-01T00:00:00.000Z' WHERE state = 'failed'");
    expect(await status()).toContain('1 failed');
    expect(await now()).toContain('1 job has failed');
  });
});
