import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeDemoSettings } from '../../src/cli/commands/demo/demo-settings.js';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import { runCommand } from '../support/command.js';
import { type InstalledProgram, startInstalled } from '../support/program.js';
import { breakReads, fillOrganizations, openMirror } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { ALL_PERMISSIONS, startTestSandbox } from '../support/sandbox.js';

const MINUTE = 60_000;

async function status({ program }: InstalledProgram) {
  const env = { DATA_DIR: program.folder };
  const text = await runCommand(['status'], { env });
  expect(text.exitCode).toBe(0);
  expect(text.stderr).toMatch(/^(Covers \d of the \d known organizations\.\n)?$/);
  const json = await runCommand(['status', '--json'], { env });
  return { first: text.stdout.split('\n')[0] ?? '', text: text.stdout, json: JSON.parse(json.stdout) };
}

/** Writes a heartbeat of a worker that is this old. */
async function writeHeartbeat({ program }: InstalledProgram, msAgo: number): Promise<void> {
  const at = Date.now() - msAgo;
  await program.change("DELETE FROM processes WHERE role = 'work'");
  await program.change(
    "INSERT INTO processes (role, host, pid, started_at, seen_at) VALUES ('work', 'here', 1, ?, ?)",
    new Date(at).toISOString(),
    new Date(at).toISOString(),
  );
}

test('status begins with the mirror, its worker, unread deliveries and rejected webhooks', async () => {
  const installed = await startInstalled();
  const { program, retire } = installed;
  expect((await status(installed)).first).toBe(
    `The mirror in ${program.folder} of ${program.sandbox.url}/. NO WORKER IS RUNNING. All deliveries are read. No webhooks were rejected in the last 24 hours.`,
  );
  await writeHeartbeat(installed, 5 * MINUTE);
  await program.worker().stop();
  retire(1);
  await program.registry.deliveries.waitUntilSettled();
  const waiting = new Date(Date.now() - 3 * MINUTE).toISOString();
  await program.change(
    "UPDATE jobs SET run_at = ?, created_at = ? WHERE state = 'waiting' AND trigger = 'delivery'",
    waiting,
    waiting,
  );
  await program.change(
    'UPDATE deliveries SET received_at = ? WHERE id = (SELECT max(id) FROM deliveries)',
    waiting,
  );
  await program.change(
    'INSERT INTO rejected_webhooks (minute, reason, status, header_prefix, rejected, newest_at) VALUES (?, ?, 401, ?, 3, ?)',
    new Date().toISOString().slice(0, 16),
    'signature_not_valid',
    'registry',
    new Date().toISOString(),
  );
  const { first, json } = await status(installed);
  expect(first).toContain('NO WORKER IS RUNNING.');
  expect(first).toContain('The oldest unread delivery has waited 3 min.');
  expect(first).toContain('3 webhooks were rejected in the last 24 hours: signature not valid.');
  expect(json).toMatchObject({ mirror: { demo: false, folder: program.folder }, worker: { state: 'gone' } });
  await writeHeartbeat(installed, 0);
  expect((await status(installed)).first).toContain('A worker is running.');
});

test('status says that a demo is being created until its receiver and worker have started', async () => {
  const folder = temporaryFolder();
  const demo = join(folder, 'demo');
  const { sandbox, stop } = await startTestSandbox({ folder: join(demo, 'sandbox') });
  const settings = { REGISTRY_BASE_URL: sandbox.url, REGISTRY_APP_ID: 'app-1' };
  writeDemoSettings(demo, settings);
  const env = { DATA_DIR: folder };
  await runCommand(['migrate'], { env });
  const text = async () => (await runCommand(['status'], { env })).stdout;
  const json = async () => JSON.parse((await runCommand(['status', '--json'], { env })).stdout);
  expect(await text()).toBe(
    `The demo in ${demo} is being created: it plays its simulated history, then starts the receiver and the worker. Try again in a moment.\n`,
  );
  expect(await json()).toMatchObject({ mirror: { demo: true, being_created: true } });
  const doctor = await runCommand(['doctor', '--json'], { env });
  expect(JSON.parse(doctor.stdout)).toMatchObject([
    { state: 'warn', found: expect.stringContaining('is being created') },
  ]);
  writeDemoSettings(demo, { ...settings, PORT: '8099' });
  expect(await text()).toContain('NO WORKER IS RUNNING.');
  expect(await json()).toMatchObject({ mirror: { demo: true, being_created: false } });
  writeDemoSettings(demo, settings);
  await stop();
  expect(await text()).toContain('NO WORKER IS RUNNING.');
});

test('status shows the date of the last known rows after a permission was withdrawn', async () => {
  const installed = await startInstalled();
  const { program, installationId } = installed;
  const { organization_inventory: _, ...rest } = ALL_PERMISSIONS;
  program.registry.apps.change(program.app.id, { permissions: rest });
  program.registry.installations.acceptPermissions(installationId);
  await program.rest();
  const { text, json } = await status(installed);
  const inventory = json.organizations[0].resources.find(
    ({ resource }: { resource: string }) => resource === 'inventory',
  );
  expect(inventory).toMatchObject({
    state: 'no_access',
    reason: 'no_permission',
    as_of: expect.any(String),
  });
  expect(text).toMatch(/ no access \(no permission\) /);
  expect(text).toContain(
    `inventory: no access (no permission): its ${inventory.rows} rows are as of ${inventory.as_of}; nothing newer is known`,
  );
});

test('status shows 20 organizations, troubled ones first and then the largest, and how to see the rest', async () => {
  const scene = await openMirror();
  temporaryInbox(scene.folder);
  scene.clock.at = Date.now();
  await fillOrganizations(scene, 30);
  await breakReads(scene, 'organization-10');
  const runStatus = async (...options: readonly string[]) => {
    const { stdout } = await runCommand(['status', ...options], { env: { DATA_DIR: scene.folder } });
    const rows = Array.from(stdout.matchAll(/^organization-(\d+) +active/gm), ([, number]) => Number(number));
    return { stdout, rows };
  };
  const { stdout, rows } = await runStatus();
  expect(rows).toEqual([10, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12]);
  expect(stdout).toContain('\nand 10 more: carbon-mirror status --all\n');
  const all = await runStatus('--all');
  expect(all.rows).toHaveLength(30);
  expect(all.stdout).not.toContain(' more: ');
  await scene.db.change(
    "UPDATE resource_states SET outcome = 'failed', error = 'answered 503', failing_since = '2026-11-01T00:00:00.000Z', webhook_failed = 1",
  );
  const failing = await runStatus();
  expect(failing.stdout.match(/(stale|never read) \(read failed\): answered 503/g)).toHaveLength(20);
  expect(failing.stdout).toContain('\nand 280 more: carbon-mirror status --all\n');
});

test('status ends with a verdict: nothing needs attention, or each thing that does and who can act', async () => {
  const installed = await startInstalled();
  expect((await status(installed)).text).toMatch(
    /\n1 thing needs attention:\n {2}No worker has ever run\. Who can act: you\. Start .*\n$/,
  );
  await writeHeartbeat(installed, 0);
  expect((await status(installed)).text).toMatch(/\nNothing needs attention\.\n$/);
});

test('status calls a certificate of an unclaimed retirement unavailable, as the list of certificates does', async () => {
  const { read, folder, port, pdfs, clock, db } = await openMirror();
  temporaryInbox(folder);
  clock.at = Date.now();
  await read('retirements', [retirement('r-1', { beneficiary: null, isClaimed: false })]);
  await createCertificateStore(port, pdfs(1_000), () => clock.at).makeNewDue();
  await db.change("UPDATE certificates SET state = 'unavailable'");
  const { stdout } = await runCommand(['status'], { env: { DATA_DIR: folder } });
  expect(stdout).toContain(' 1 unavailable ');
  expect(stdout).toContain(
    '\n1 certificate is unavailable because the retirement is unclaimed: it has no beneficiary yet.\n',
  );
});
