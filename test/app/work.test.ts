import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createKeyFile } from '../../src/evidence/key-file.js';
import { openNote } from '../../src/evidence/signed-note.js';
import { runCommand } from '../support/command.js';
import { startWorker, type WorkerStartOptions } from '../../src/app/work.js';
import { readSettings } from '../../src/app/config/read-settings.js';
import { createSqliteEngine } from '../../src/store/sqlite/engine.js';
import type { WorkerStores } from '../../src/store/engine.js';
import { createMask } from '../../src/text/mask.js';
import { createLog } from '../../src/app/log.js';
import type { Sandbox } from '../../src/sandbox/start.js';
import { startDemoMirror } from '../support/mirror/demo.js';
import { holdWriteAheadLog } from '../support/held-locks.js';
import { temporaryFolder } from '../support/inbox.js';
import { findFreePort } from '../support/processes.js';
import {
  createPrivateKey,
  installApp,
  issueCredit,
  type TestApp,
  startTemporarySandbox,
} from '../support/sandbox.js';
import { openTablesIn } from '../support/tables.js';

/** Starts the worker in this process as `carbon-mirror work` does, with its schedule. */
async function startWorkerHere(
  sandbox: Sandbox,
  app: TestApp,
  options: Partial<WorkerStartOptions> = {},
  watched: (inbox: WorkerStores['inbox']) => WorkerStores['inbox'] = inbox => inbox,
) {
  const { dataDir: folder = temporaryFolder() } = options;
  const env = {
    REGISTRY_BASE_URL: sandbox.url,
    REGISTRY_APP_ID: app.id,
    REGISTRY_PRIVATE_KEY: app.privateKey,
    DATA_DIR: folder,
    OPERATIONS_PORT: '0',
  };
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) };
  const log = createLog({ level: 'error', mask: createMask([]), now: Date.now, pretty: false, sink });
  const files = createSqliteEngine({ dataDir: folder, diskReserveMb: 0, database: null });
  const openWorkerStores: typeof files.openWorkerStores = async storeOptions => {
    const store = await files.openWorkerStores(storeOptions);
    return { ...store, inbox: watched(store.inbox) };
  };
  const tools = { log, now: Date.now, engine: { ...files, openWorkerStores } };
  const work = await startWorker({ ...(await readSettings(env, 'work')), ...options }, tools);
  onTestFinished(() => work.stop());
  return {
    lines,
    folder,
    stop: () => work.stop(),
    ...openTablesIn(folder),
  };
}

test('the schedule alone fills the mirror without any webhook, and each tick is claimed as soon as it is stored', async () => {
  const sandbox = await startTemporarySandbox();
  const { app, organization } = installApp(sandbox);
  issueCredit(sandbox, organization.id);
  const { rows } = await startWorkerHere(sandbox, app, { syncSchedule: '*/2 * * * * *' });
  const amounts = () => rows('SELECT amount_ex_post AS amount FROM available_credits');
  await expect.poll(amounts).toEqual([{ amount: 100 }]);
  const unread = () => rows("SELECT id FROM jobs WHERE kind = 'tick' AND started_at IS NULL");
  const ticks = async () => (await rows("SELECT id FROM jobs WHERE kind = 'tick' AND state = 'done'")).length;
  await expect.poll(ticks).toBeGreaterThan(3);
  await expect.poll(unread, { interval: 5 }).toEqual([]);
});

test('the first JWT is signed before any job is claimed, because signing is slow on a cold machine', async () => {
  const sandbox = await startTemporarySandbox();
  const { app } = installApp(sandbox);
  const signed = vi.spyOn(crypto.subtle, 'sign');
  onTestFinished(() => signed.mockRestore());
  const signedBefore: number[] = [];
  await startWorkerHere(sandbox, app, { syncSchedule: ONCE_A_YEAR }, inbox => ({
    ...inbox,
    claim: request => {
      signedBefore.push(signed.mock.calls.length);
      return inbox.claim(request);
    },
  }));
  await expect.poll(() => signedBefore.length).toBeGreaterThan(0);
  expect(signedBefore[0]).toBe(1);
});

const ONCE_A_YEAR = '0 0 1 1 *';

test('a worker with MIRROR_MEMBERS=off removes stored members before it runs jobs', async () => {
  const sandbox = await startTemporarySandbox();
  const { app } = installApp(sandbox);
  const filled = await startWorkerHere(sandbox, app);
  const members = async () => (await filled.rows('SELECT id FROM members')).length;
  await expect.poll(members).toBeGreaterThan(0);
  await filled.stop();
  await startWorkerHere(sandbox, app, {
    dataDir: filled.folder,
    mirrorMembers: false,
    syncSchedule: ONCE_A_YEAR,
  });
  expect(await filled.rows('SELECT id FROM members_history')).toEqual([]);
  expect(await filled.rows("SELECT * FROM freshness WHERE resource = 'members'")).toEqual([]);
});

test('T75 a worker removes orphaned certificate files that a killed process left behind', async () => {
  const sandbox = await startTemporarySandbox();
  const { app } = installApp(sandbox);
  const first = await startWorkerHere(sandbox, app, { syncSchedule: ONCE_A_YEAR });
  await first.stop();
  await first.change("UPDATE origin SET created_at = '2026-01-01T00:00:00.000Z'");
  const leftoverFile = join(first.folder, 'certificates', `left-${'0'.repeat(64)}.pdf`);
  writeFileSync(leftoverFile, '%PDF');
  utimesSync(leftoverFile, new Date('2026-01-02'), new Date('2026-01-02'));
  await startWorkerHere(sandbox, app, { dataDir: first.folder, syncSchedule: ONCE_A_YEAR });
  await expect.poll(() => existsSync(leftoverFile)).toBe(false);
});

test.each([
  [
    'a key that the registry does not know',
    'paused',
    'REGISTRY_APP_ID and the private key',
    { privateKey: createPrivateKey() },
  ],
  ['an address where nobody answers', 'waiting', 'REGISTRY_BASE_URL', { baseUrl: 'http://127.0.0.1:1' }],
])(
  '%s is logged at the start, and the jobs that failed stay visible',
  async (_name, state, setting, wrong) => {
    const sandbox = await startTemporarySandbox();
    const { app } = installApp(sandbox);
    const { rows, lines } = await startWorkerHere(sandbox, app, { syncSchedule: ONCE_A_YEAR, ...wrong });
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toContain('no access to the registry');
    expect(lines[0]).toContain(setting);
    const waiting = () =>
      rows("SELECT state FROM jobs WHERE kind = 'discover' AND state <> 'done' AND last_error <> ''");
    await expect.poll(waiting).toEqual([{ state }]);
  },
);

test('the drift metric is 0 for each resource before the first read', async () => {
  const sandbox = await startTemporarySandbox();
  const operationsPort = await findFreePort();
  const nobody = 'http://127.0.0.1:1';
  await startWorkerHere(sandbox, installApp(sandbox).app, {
    operationsPort,
    baseUrl: nobody,
    syncSchedule: ONCE_A_YEAR,
  });
  const text = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text();
  expect(text.match(/^carbon_mirror_drift_rows_total\{.*$/gm)).toEqual(
    ['warehouse', 'inventory', 'retirements'].map(
      resource => `carbon_mirror_drift_rows_total{resource="${resource}"} 0`,
    ),
  );
});

test('the metrics of the worker show the last count of each finding', async () => {
  const sandbox = await startTemporarySandbox();
  const operationsPort = await findFreePort();
  const { folder } = await startWorkerHere(sandbox, installApp(sandbox).app, {
    operationsPort,
    syncSchedule: ONCE_A_YEAR,
  });
  const ask = async () =>
    (await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text()).match(/_findings\{.*$/gm) ??
    [];
  expect(await ask()).toEqual([]);
  const engine = createSqliteEngine({ dataDir: folder, diskReserveMb: 0, database: null });
  const { mirror, close } = await engine.openWriterStores(Date.now);
  onTestFinished(close);
  const counts = (rows: number) => [
    { finding: 'balance_credits', rows: 0 },
    { finding: 'negative_amount', rows },
  ];
  for (const rows of [3, 0]) {
    await mirror.report({ at: new Date().toISOString(), findings: counts(rows) });
    expect(await ask()).toEqual([
      '_findings{finding="balance_credits"} 0',
      `_findings{finding="negative_amount"} ${rows}`,
    ]);
  }
});

test('the metrics of the worker count calls, reads, rows and certificates', async () => {
  const demo = await startDemoMirror({ operations: true, mirrored: false });
  const text = await (await fetch(`http://127.0.0.1:${demo.operationsPort}/metrics`)).text();
  await demo.stop();
  expect(text).toContain('carbon_mirror_certificates{state="stored"} 145');
  expect(text).toMatch(/carbon_mirror_rows_total\{resource="retirements",change="added"\} 150/);
  expect(text).toMatch(/sync_duration_seconds_count\{resource="warehouse",state="complete"\} \d+/);
  expect(text).toMatch(
    /registry_requests_total\{route="\/organizations\/:organizationId\/retirements",status="200"\} \d+/,
  );
  expect(text).not.toContain(demo.organizationIds[0]);
});

test('T66 the metrics of the worker show how much of a log a reader holds back, and for how long', async () => {
  const demo = await startDemoMirror({ operations: true });
  onTestFinished(() => demo.stop());
  const ask = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${demo.operationsPort}/metrics`)).text();
    return Number(
      new RegExp(`^carbon_mirror_database_wal_${name}\\{database="mirror"\\} (\\S+)$`, 'm').exec(text)?.[1],
    );
  };
  expect(await ask('held_seconds')).toBe(0);
  const letGo = holdWriteAheadLog(demo.folder);
  await expect.poll(() => ask('held_seconds')).toBeGreaterThan(0);
  expect(await ask('unmoved_bytes')).toBeGreaterThan(16 * 1024 * 1024);
  letGo();
  await expect.poll(() => ask('held_seconds')).toBe(0);
});

test('T91 a worker with a key seals what is in the mirror, and one without a key seals nothing', async () => {
  const sandbox = await startTemporarySandbox();
  const { app, organization } = installApp(sandbox);
  issueCredit(sandbox, organization.id);
  const first = await startWorkerHere(sandbox, app, { syncSchedule: '*/2 * * * * *' });
  const { folder: dataDir } = first;
  await expect
    .poll(() => first.rows('SELECT amount_ex_post AS amount FROM available_credits'))
    .toEqual([{ amount: 100 }]);
  await first.stop();
  expect(existsSync(join(dataDir, 'evidence.db'))).toBe(false);

  const evidenceKeyFile = join(temporaryFolder(), 'evidence.key');
  const key = createKeyFile(evidenceKeyFile, 'mirror.example/log');
  await startWorkerHere(sandbox, app, { dataDir, evidenceKeyFile, syncSchedule: ONCE_A_YEAR });
  const checkpoint = () =>
    runCommand(['evidence', 'checkpoint'], { env: { DATA_DIR: dataDir, REGISTRY_APP_ID: 'a' } });
  await expect.poll(async () => (await checkpoint()).exitCode).toBe(0);
  expect(openNote((await checkpoint()).stdout, key)).toMatch(/^mirror\.example\/log\n[1-9]\d*\n/);
});

test('T92 a worker does not start if its signing key is not usable', async () => {
  const sandbox = await startTemporarySandbox();
  const { app } = installApp(sandbox);
  const evidenceKeyFile = join(temporaryFolder(), 'evidence.key');
  writeFileSync(evidenceKeyFile, 'PRIVATE+KEY+nobody\n');
  await expect(startWorkerHere(sandbox, app, { evidenceKeyFile })).rejects.toThrow('evidence init');
});
