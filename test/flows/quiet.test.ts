import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { startInstalled, type InstalledProgram } from '../support/program.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';

const DAY_MS = 86_400_000;
const LIST_CALLS = 1;

/** Returns the calls made during `work`, with ids replaced by `ID`. */
async function recordCalls({ program }: InstalledProgram, work: () => Promise<void>): Promise<string[]> {
  const list = () => program.registry.calls.list({ appId: null, installationId: null, limit: 10_000 });
  const before = list().length;
  await work();
  const calls = list();
  return calls
    .slice(0, calls.length - before)
    .map(({ method, path }) => `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, 'ID')}`)
    .toSorted();
}

const CALLS_PER_ROUND = [
  'GET /app/installations',
  'GET /organizations/ID/inventory',
  'GET /organizations/ID/retirements',
  'GET /organizations/ID/warehouse/inventory',
];

test('a scheduled round costs at most four calls for an unchanged organization, and three with a valid token', async () => {
  const scene = await startInstalled();
  const { program } = scene;
  const { registry, sandbox, app } = program;
  for (let more = 0; more < 9; more += 1) {
    const { id } = createOrganization(sandbox);
    issueCredit(sandbox, id);
    registry.installations.install(app.id, id);
  }
  await program.rest();
  await program.reconcile();
  const quiet = await recordCalls(scene, () => program.reconcile());
  expect(new Set(quiet)).toEqual(new Set(CALLS_PER_ROUND));
  expect(quiet).toHaveLength(LIST_CALLS + 10 * 3);
  program.time.move(2 * 3_600_000);
  const renewed = await recordCalls(scene, () => program.reconcile());
  expect(renewed.length).toBeLessThanOrEqual(LIST_CALLS + 10 * 4);
});

test('a daily resource is read again after a day, or at once for a webhook or a person', async () => {
  const scene = await startInstalled();
  const { program, installationId, organizationId } = scene;
  await program.reconcile();
  const aDayLater = await recordCalls(scene, () => program.reconcile(DAY_MS));
  for (const part of [
    '',
    '/addresses',
    '/members',
    '/inventory/requests',
    '/warehouse/inventory/reservations',
  ])
    expect(aDayLater).toContain(`GET /organizations/ID${part}`);
  expect(aDayLater).toContain('GET /projects/ID');
  const isAll = (calls: readonly string[]) =>
    ['', '/addresses', '/members'].every(part => calls.includes(`GET /organizations/ID${part}`));
  const announced = await recordCalls(scene, async () => {
    scene.retire(0.5);
    await program.rest();
  });
  expect(isAll(announced)).toBe(true);
  const calls = await recordCalls(scene, async () => {
    await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
    await program.rest();
  });
  expect(isAll(calls)).toBe(true);
  expect(calls).toContain('GET /projects/ID');
});

test('a change found by the schedule has all resources read, and reservations are read in each round while one is open', async () => {
  const scene = await startInstalled();
  const { program, organizationId, creditId } = scene;
  const { registry, app } = program;
  const { id } = registry.reservations.reserve(organizationId, app.id, { creditId, amount: 1 });
  await program.reconcile(1000);
  expect(await program.value('SELECT count(*) FROM reservations')).toBe(1);
  const calls = await recordCalls(scene, () => program.reconcile(1000));
  expect(calls).toContain('GET /organizations/ID/warehouse/inventory/reservations');
  expect(calls).not.toContain('GET /organizations/ID/inventory/requests');
  registry.reservations.cancel(organizationId, app.id, id);
  await program.reconcile(1000);
  const free = await recordCalls(scene, () => program.reconcile(1000));
  expect(new Set(free)).toEqual(new Set(CALLS_PER_ROUND));
});

test.each(['worker', 'delivery'] as const)(
  'a project is requested once a day, also if a %s takes the place of the schedule',
  async trigger => {
    const scene = await startInstalled();
    const { program, installationId, organizationId } = scene;
    const read = () =>
      recordCalls(scene, async () => {
        await program.inbox.enqueue([createInstallationJob(installationId, organizationId, trigger)]);
        await program.rest();
      });
    program.time.move(DAY_MS / 2);
    expect(await read()).not.toContain('GET /projects/ID');
    program.time.move(DAY_MS / 2);
    expect(await read()).toContain('GET /projects/ID');
  },
);

test('a daily resource is not overdue before two days have passed', async () => {
  const { program } = await startInstalled();
  const state = async (resource: string, hours: number) => {
    const at = new Date(Date.now() - hours * 3_600_000).toISOString();
    await program.change('UPDATE resource_states SET as_of = ? WHERE resource = ?', at, resource);
    return await program.value<string>(
      'SELECT coalesce(reason, state) AS state FROM freshness WHERE resource = ?',
      resource,
    );
  };
  expect(await state('warehouse', 1)).toBe('overdue');
  expect(await state('members', 1)).toBe('fresh');
  expect(await state('members', 47)).toBe('fresh');
  expect(await state('members', 49)).toBe('overdue');
});

test('an installation is checked if the list shows other permissions or lacks it', async () => {
  const scene = await startInstalled();
  const { program, installationId } = scene;
  const { registry, app, webhookUrl } = program;
  await program.reconcile();
  registry.apps.change(app.id, { webhookUrl: null, permissions: { organization_info: 'VIEW' } });
  registry.installations.acceptPermissions(installationId);
  await program.reconcile();
  expect(
    await program.value(
      "SELECT coalesce(reason, state) AS state FROM freshness WHERE resource = 'warehouse'",
    ),
  ).toBe('no_permission');
  registry.installations.suspend(installationId);
  await program.reconcile();
  await program.reconcile(3 * 3_600_000);
  expect(await program.value('SELECT state FROM installations')).toBe('suspended');
  registry.installations.uninstall(installationId);
  await program.reconcile();
  expect(await program.value('SELECT state FROM installations')).toBe('uninstalled');
  registry.apps.change(app.id, { webhookUrl });
});
