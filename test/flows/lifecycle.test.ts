import { expect, test } from 'vitest';
import { RESOURCES } from '../../src/sync/plan.js';
import { findDifferences } from '../support/compare.js';
import { startInstalled, openSyncContext } from '../support/program.js';
import { engineIndependent } from '../support/long.js';
import { listPdfNames } from '../support/pdfs.js';
import { ALL_PERMISSIONS, issueCredit } from '../support/sandbox.js';

test('an installation fills the mirror', async () => {
  const { program, organizationId } = await startInstalled();
  expect(program.ended).toMatchObject([
    { kind: 'installation', outcome: 'read' },
    { kind: 'certificates', outcome: 'fetched' },
  ]);
  const current = await program.rows("SELECT resource FROM freshness WHERE state = 'fresh'");
  expect(new Set(current.map(row => Object(row)['resource']))).toEqual(
    new Set([...RESOURCES, 'certificates']),
  );
  expect(
    await program.rows('SELECT organization_id, amount_ex_post AS amount FROM available_credits'),
  ).toEqual([{ organization_id: organizationId, amount: 100 }]);
  expect(await findDifferences(program)).toEqual([]);
});

test('a finished reservation changes warehouse, reservations and retirements and adds a certificate', async () => {
  const { program, retire } = await startInstalled();
  retire(30);
  await program.rest();
  expect(await program.rows('SELECT amount_ex_post AS amount FROM available_credits')).toEqual([
    { amount: 70 },
  ]);
  expect(await program.rows('SELECT state FROM reservations')).toEqual([{ state: 'finished' }]);
  expect(await program.rows('SELECT amount, beneficiary FROM retirements')).toEqual([
    { amount: 30, beneficiary: 'Ada' },
  ]);
  const [certificate] = await program.rows('SELECT file, state FROM certificates');
  expect(certificate).toMatchObject({ state: 'stored' });
  expect(await listPdfNames(program.pdfs)).toEqual([Object(certificate)['file']]);
  expect(await findDifferences(program)).toEqual([]);
});

test('a reservation that ends by the clock is observed without an event', async () => {
  const { program, organizationId, creditId } = await startInstalled();
  program.registry.reservations.reserve(organizationId, program.app.id, { creditId, amount: 40 });
  await program.reconcile();
  expect(await program.rows('SELECT amount_ex_post AS amount FROM available_credits')).toEqual([
    { amount: 60 },
  ]);
  program.time.move(10 * 60_000);
  await program.rest();
  expect(await program.rows('SELECT amount_ex_post AS amount FROM available_credits')).toEqual([
    { amount: 100 },
  ]);
  expect(await program.rows('SELECT state FROM reservations')).toEqual([{ state: 'expired' }]);
  expect(program.ended.at(-1)).toMatchObject({ kind: 'reservations', outcome: 'read' });
});

test('a suspension stops reads and keeps the rows, and its end resumes reads', async () => {
  const { program, organizationId, installationId, calls } = await startInstalled();
  program.registry.installations.suspend(installationId);
  await program.rest();
  expect(await program.rows('SELECT state FROM installations')).toEqual([{ state: 'suspended' }]);
  expect(await program.rows('SELECT count(*) AS rows FROM warehouse_credits')).toEqual([{ rows: 1 }]);
  expect(await program.rows('SELECT * FROM available_credits')).toEqual([]);
  expect(await program.rows('SELECT amount_ex_post AS amount, freshness FROM last_known_credits')).toEqual([
    { amount: 100, freshness: 'no_access' },
  ]);
  const warehouseCalls = calls('/warehouse/inventory');
  issueCredit(program.sandbox, organizationId, { amount: 5 });
  await program.reconcile();
  expect(calls('/warehouse/inventory')).toBe(warehouseCalls);
  program.registry.installations.unsuspend(installationId);
  await program.rest();
  expect(await program.rows('SELECT sum(amount_ex_post) AS amount FROM available_credits')).toEqual([
    { amount: 105 },
  ]);
});

engineIndependent.test('the schedule finds the end of a suspension whose webhook was lost', async () => {
  const { program, installationId } = await startInstalled();
  program.registry.installations.suspend(installationId);
  await program.rest();
  program.registry.deliveries.changeSettings({ drop: 1 });
  program.registry.installations.unsuspend(installationId);
  await program.rest();
  expect(await program.rows('SELECT state FROM installations')).toEqual([{ state: 'suspended' }]);
  await program.reconcile();
  expect(await program.rows('SELECT state FROM installations')).toEqual([{ state: 'active' }]);
});

test('T40 an uninstalled organization is frozen, and no token is requested again', async () => {
  const { program, installationId, calls } = await startInstalled();
  const mints = calls('/accessTokens');
  program.registry.installations.uninstall(installationId);
  await program.rest();
  await program.reconcile();
  expect(await program.rows('SELECT state FROM installations')).toEqual([{ state: 'uninstalled' }]);
  expect(await program.rows('SELECT DISTINCT reason AS state FROM freshness')).toEqual([
    { state: 'uninstalled' },
  ]);
  expect(await program.rows('SELECT count(*) AS rows FROM warehouse_credits')).toEqual([{ rows: 1 }]);
  expect(calls('/accessTokens')).toBe(mints);
});

engineIndependent.test(
  'the schedule finds that a suspended installation was uninstalled without a webhook',
  async () => {
    const { program, installationId } = await startInstalled();
    program.registry.installations.suspend(installationId);
    await program.rest();
    program.registry.deliveries.changeSettings({ drop: 1 });
    program.registry.installations.uninstall(installationId);
    await program.reconcile();
    expect(await program.rows('SELECT state FROM installations')).toEqual([{ state: 'uninstalled' }]);
    expect(await program.inbox.countJobs()).toMatchObject({ waiting: 0, failed: 0 });
  },
);

test('a new installation of the same organization continues where the old one ended', async () => {
  const { program, organizationId, installationId } = await startInstalled();
  program.registry.installations.uninstall(installationId);
  await program.rest();
  issueCredit(program.sandbox, organizationId, { amount: 7 });
  program.registry.installations.install(program.app.id, organizationId);
  await program.rest();
  expect(await program.rows('SELECT state FROM installations ORDER BY state')).toEqual([
    { state: 'active' },
    { state: 'uninstalled' },
  ]);
  expect(await program.rows('SELECT sum(amount_ex_post) AS amount FROM available_credits')).toEqual([
    { amount: 107 },
  ]);
  expect(await program.rows("SELECT * FROM past WHERE resource = 'warehouse'")).toEqual([]);
});

engineIndependent.test(
  'T39 a missing permission marks its resources without a call, and a new permission opens them',
  async () => {
    const { organization_warehouse: _, ...fewer } = ALL_PERMISSIONS;
    const { program, installationId, calls } = await startInstalled({ permissions: fewer });
    expect(
      await program.rows("SELECT resource FROM freshness WHERE reason = 'no_permission' ORDER BY resource"),
    ).toEqual([{ resource: 'reservations' }, { resource: 'warehouse' }]);
    expect(calls('/warehouse/inventory')).toBe(0);
    program.registry.apps.change(program.app.id, { permissions: ALL_PERMISSIONS });
    program.registry.installations.acceptPermissions(installationId);
    await program.rest();
    expect(
      await program.rows("SELECT resource FROM freshness WHERE reason = 'no_permission' ORDER BY resource"),
    ).toEqual([]);
    expect(await findDifferences(program)).toEqual([]);
  },
);

test('P13 a deposit without a webhook is found by the schedule and counted as drift', async () => {
  const { program, organizationId } = await startInstalled();
  issueCredit(program.sandbox, organizationId, { amount: 12 });
  await program.reconcile();
  expect(await program.rows('SELECT sum(amount_ex_post) AS amount FROM available_credits')).toEqual([
    { amount: 112 },
  ]);
  expect(await program.rows('SELECT resource, drift, rows_added FROM drift')).toEqual([
    { resource: 'warehouse', drift: 1, rows_added: 1 },
  ]);
});

engineIndependent.test('a change that a delivery announced does not count as drift', async () => {
  const { program, retire } = await startInstalled();
  retire(1);
  await program.rest();
  await program.reconcile();
  expect(await program.rows('SELECT * FROM drift')).toEqual([]);
});

engineIndependent.test('the schedule finds an installation that no webhook announced', async () => {
  const { program, organizationId, installationId } = await startInstalled();
  program.registry.installations.uninstall(installationId);
  await program.rest();
  program.registry.deliveries.changeSettings({ drop: 1 });
  const { id } = program.registry.installations.install(program.app.id, organizationId);
  await program.rest();
  await program.reconcile();
  expect(await program.rows('SELECT state FROM installations WHERE id = ?', id)).toEqual([
    { state: 'active' },
  ]);
});

engineIndependent.test('with MIRROR_MEMBERS=off members are neither requested nor mirrored', async () => {
  const { program, calls } = await startInstalled({ context: { mirrorMembers: false } });
  expect(await program.rows('SELECT * FROM members')).toEqual([]);
  expect(calls('/members')).toBe(0);
  expect(await program.rows("SELECT * FROM freshness WHERE resource = 'members'")).toEqual([]);
});

test('turning MIRROR_MEMBERS off removes mirrored members and their freshness', async () => {
  const { program } = await startInstalled();
  const readMemberFreshness = () => program.rows("SELECT * FROM freshness WHERE resource = 'members'");
  expect([await program.rows('SELECT * FROM members'), await readMemberFreshness()]).not.toContainEqual([]);
  await openSyncContext(program, { context: { mirrorMembers: false } });
  expect([await program.rows('SELECT * FROM members_history'), await readMemberFreshness()]).toEqual([
    [],
    [],
  ]);
});

engineIndependent.test('the schedule checks the visible data of a suspended installation', async () => {
  const { program, installationId } = await startInstalled();
  const { apps, installations } = program.registry;
  installations.suspend(installationId);
  await program.rest();
  program.registry.deliveries.changeSettings({ drop: 1 });
  apps.change(program.app.id, { permissions: { organization_info: 'VIEW' } });
  installations.acceptPermissions(installationId);
  await program.reconcile();
  expect(await program.rows('SELECT state, permissions FROM installations')).toEqual([
    { state: 'suspended', permissions: '{"organization_info":"VIEW"}' },
  ]);
});

engineIndependent.test(
  'a project with a bad answer does not stop the others, and is requested again',
  async () => {
    const { program, organizationId } = await startInstalled();
    const { projects, credits, faults } = program.registry;
    const [first, second] = [projects.create({ fullName: 'One' }), projects.create({ fullName: 'Other' })];
    faults.add({ path: `/projects/${first.id}`, count: 1, kind: 'html' });
    for (const { id: projectId } of [first, second]) {
      credits.issue({ organizationId, projectId, place: 'warehouse', amount: 5, vintage: '2020' });
    }
    await program.reconcile();
    expect(
      await program.rows(`SELECT p.full_name, r.state FROM projects AS p JOIN syncs AS r ON r.id = p.sync_id
      WHERE p.full_name IN ('One', 'Other') ORDER BY p.full_name`),
    ).toEqual([
      { full_name: 'One', state: 'complete' },
      { full_name: 'Other', state: 'partial' },
    ]);
  },
);

engineIndependent.test('a project that is not public is marked as such and fails no job', async () => {
  const { program, organizationId } = await startInstalled();
  const hidden = program.registry.projects.create({ fullName: 'Hidden', isPublic: false });
  const credit = { organizationId, projectId: hidden.id, place: 'warehouse', amount: 5, vintage: '2020' };
  program.registry.credits.issue(credit);
  await program.reconcile();
  expect(await program.rows('SELECT state FROM project_states WHERE project_id = ?', hidden.id)).toEqual([
    { state: 'unavailable' },
  ]);
  expect(await program.rows("SELECT * FROM freshness WHERE state <> 'fresh'")).toEqual([]);
});
