import { expect, test } from 'vitest';
import { findDifferences } from '../support/compare.js';
import { createInstallationJob } from '../../src/inbox/job.js';
import { CONFIRM_AFTER_MS } from '../../src/mirror/list/missing-rows.js';
import { startInstalled, type Program } from '../support/program.js';
import type { Permissions } from '../../src/registry/object-models.js';
import { ALL_PERMISSIONS, createOrganization, issueCredit } from '../support/sandbox.js';

/** Creates the job of a person who asks to read this organization now. */
async function createReadJob(organizationId: string, { rows }: Program) {
  const [found] = await rows(
    "SELECT id FROM installations WHERE organization_id = ? AND state = 'active'",
    organizationId,
  );
  return createInstallationJob(Object(found)['id'], organizationId, 'person');
}

async function addOrganization(program: Program) {
  const { id: organizationId } = createOrganization(program.sandbox);
  program.registry.installations.install(program.app.id, organizationId);
  await program.rest();
  return { organizationId };
}

const RETIREMENTS = '/organizations/*/retirements';

test.each([
  ['a page of HTML with 200', { kind: 'html' }],
  ['an answer of a wrong shape', { kind: 'wrongShape', options: { body: { retirements: { no: 'list' } } } }],
  ['an answer that is cut short', { kind: 'cut', options: { bytes: 40, cleanEnd: true } }],
  ['an answer whose connection breaks', { kind: 'cut', options: { bytes: 40 } }],
  [
    'a row without its id',
    {
      kind: 'wrongShape',
      options: { body: { retirements: [{ amount: 1 }], pagination: { total: 1, nextPage: null } } },
    },
    'removals_unconfirmed',
  ],
])(
  'T34 %s changes no row, and only that resource is read again',
  async (_name, fault, reason = 'read_failed') => {
    const { program, organizationId, retire, calls } = await startInstalled();
    retire(5);
    await program.rest();
    program.registry.faults.add({ path: RETIREMENTS, count: 1, ...fault });
    const before = { retirements: calls('/retirements'), warehouse: calls('/warehouse/inventory') };
    retire(6);
    await expect
      .poll(() => program.rows("SELECT kind FROM jobs WHERE state = 'waiting'"))
      .toEqual([{ kind: 'retry' }]);
    expect(await program.rows('SELECT amount FROM retirements')).toEqual([{ amount: 5 }]);
    expect(await program.rows('SELECT amount_ex_post AS amount FROM available_credits')).toEqual([
      { amount: 89 },
    ]);
    const [state] = await program.rows(
      "SELECT reason AS state, error FROM freshness WHERE resource = 'retirements'",
    );
    expect(state).toMatchObject({ state: reason });
    expect(Object(state)['error']).not.toBeNull();
    program.time.move(CONFIRM_AFTER_MS + 1000);
    await program.rest();
    expect(await findDifferences(program)).toEqual([]);
    expect(calls('/warehouse/inventory')).toBe(before.warehouse + 1);
    expect(calls('/retirements')).toBe(before.retirements + 2);
    expect(
      await program.rows(
        "SELECT * FROM past WHERE resource = 'retirements' AND organization_id = ?",
        organizationId,
      ),
    ).toEqual([]);
  },
);

test('T33 an organization whose requests never get an answer does not delay the others', async () => {
  const { program, organizationId } = await startInstalled({
    http: { deadlineMs: 400, streamDeadlineMs: 400 },
  });
  const other = await addOrganization(program);
  program.registry.faults.add({ path: `/organizations/${organizationId}/**`, kind: 'silence' });
  program.registry.credits.friendbot(organizationId);
  program.registry.credits.friendbot(other.organizationId);
  await program.inbox.enqueue([await createReadJob(organizationId, program)]);
  await program.inbox.enqueue([await createReadJob(other.organizationId, program)]);
  const rows = async () =>
    (await program.rows('SELECT 1 FROM inventory_credits WHERE organization_id = ?', other.organizationId))
      .length;
  await expect.poll(rows, { timeout: 5000 }).toBe(1);
  program.registry.faults.clear();
  await program.rest();
  expect(await findDifferences(program)).toEqual([]);
});

test('T35 a warehouse that is suddenly almost empty is believed only if a second read a minute later agrees', async () => {
  const { program, organizationId } = await startInstalled();
  for (let credit = 0; credit < 24; credit++) issueCredit(program.sandbox, organizationId, { amount: 1 });
  await program.reconcile();
  const empty = { credits: [], organizationId };
  program.registry.faults.add({
    path: '/organizations/*/warehouse/inventory',
    kind: 'wrongShape',
    options: { body: empty },
  });
  const ask = async () => {
    program.time.move(2000);
    await program.inbox.enqueue([await createReadJob(organizationId, program)]);
  };
  const count = async () => (await program.rows('SELECT 1 FROM warehouse_credits')).length;
  const state = async () =>
    Object(
      (
        await program.rows(
          "SELECT coalesce(reason, state) AS state FROM freshness WHERE resource = 'warehouse'",
        )
      )[0],
    )['state'];
  await ask();
  await program.worker().idle();
  expect([await count(), await state()]).toEqual([25, 'removals_unconfirmed']);
  expect(await program.rows("SELECT error FROM freshness WHERE resource = 'warehouse'")).toMatchObject([
    { error: expect.stringContaining('at least 60 s after the first') },
  ]);
  program.time.move(5000);
  await ask();
  await program.worker().idle();
  expect([await count(), await state()]).toEqual([25, 'removals_unconfirmed']);
  await program.kill();
  program.time.move(65_000);
  await program.startWorker();
  await program.rest();
  expect([await count(), await state()]).toEqual([0, 'fresh']);
});

test('T35 a list that is complete again at the second read closes no row', async () => {
  const { program, organizationId } = await startInstalled();
  for (let credit = 0; credit < 24; credit++) issueCredit(program.sandbox, organizationId, { amount: 1 });
  await program.reconcile();
  const empty = { credits: [], organizationId };
  const fault = {
    path: '/organizations/*/warehouse/inventory',
    kind: 'wrongShape',
    options: { body: empty },
    count: 1,
  };
  program.registry.faults.add(fault);
  await program.inbox.enqueue([await createReadJob(organizationId, program)]);
  await program.rest();
  program.time.move(65_000);
  await program.rest();
  expect(await program.rows('SELECT 1 FROM warehouse_credits')).toHaveLength(25);
  expect(await program.rows("SELECT 1 FROM past WHERE resource = 'warehouse'")).toHaveLength(0);
  expect(await findDifferences(program)).toEqual([]);
});

test('T35 retirements that are missing from the list are requested by id before they are closed', async () => {
  const { program, organizationId, retire, calls } = await startInstalled();
  for (let amount = 1; amount <= 6; amount++) retire(amount);
  await program.rest();
  const body = {
    retirements: [],
    pagination: { total: 0, currentPage: 0, pageCount: 0, nextPage: null, prevPage: null },
  };
  program.registry.faults.add({ path: RETIREMENTS, kind: 'wrongShape', options: { body }, count: 1 });
  await program.inbox.enqueue([await createReadJob(organizationId, program)]);
  await program.rest();
  expect(await program.rows('SELECT 1 FROM retirements')).toHaveLength(6);
  expect(await program.rows("SELECT 1 FROM past WHERE resource = 'retirements'")).toHaveLength(0);
  const [retirement] = await program.rows('SELECT id FROM retirements');
  expect(calls(`/retirements/${Object(retirement)['id']}`)).toBeGreaterThan(0);
});

test('T36 endless pages are abandoned two pages after the possible end, and close no row', async () => {
  const { program, organizationId, retire, calls } = await startInstalled();
  for (let amount = 1; amount <= 6; amount++) retire(amount);
  await program.rest();
  const before = calls('/retirements');
  program.registry.faults.add({ path: RETIREMENTS, kind: 'pageLoop', count: 40 });
  await program.inbox.enqueue([await createReadJob(organizationId, program)]);
  await program.rest();
  expect(calls('/retirements') - before).toBeLessThanOrEqual(9);
  expect(await program.rows('SELECT 1 FROM retirements')).toHaveLength(6);
  expect(await program.rows("SELECT 1 FROM past WHERE resource = 'retirements'")).toHaveLength(0);
});

test.each(['rowsAppear', 'rowsDisappear'])(
  'T37 with %s between pages no live row is closed, and the next undisturbed sync is complete',
  async kind => {
    const { program, organizationId, retire } = await startInstalled();
    for (let amount = 0; amount < 30; amount++) retire(0.5);
    await program.rest();
    const { faults } = program.registry;
    faults.add({ path: RETIREMENTS, kind: 'pageSize', options: { rows: 7 }, count: 3 });
    faults.add({ path: RETIREMENTS, kind, options: { rows: 2 }, count: 8 });
    retire(0.5);
    await program.inbox.enqueue([await createReadJob(organizationId, program)]);
    await program.rest();
    expect(await program.rows("SELECT 1 FROM past WHERE resource = 'retirements'")).toHaveLength(0);
    faults.clear();
    await program.reconcile();
    expect(await findDifferences(program)).toEqual([]);
    expect(await program.rows("SELECT 1 FROM past WHERE resource = 'retirements'")).toHaveLength(0);
  },
);

test('T38 the job of an app that is no longer known pauses visibly and does not loop', async () => {
  const { program, organizationId, calls } = await startInstalled();
  const { faults } = program.registry;
  const body = { statusCode: 401, message: 'Unauthorized' };
  faults.add({ path: '/app/**', kind: 'status', options: { status: 401, body } });
  const before = calls('');
  await program.inbox.enqueue([await createReadJob(organizationId, program)]);
  await program.rest();
  const paused = await program.rows("SELECT * FROM jobs WHERE state = 'paused'");
  expect(paused).toMatchObject([{ error_or_pause_code: 'unauthorized' }]);
  expect(calls('') - before).toBeLessThanOrEqual(3);
  faults.clear();
  await program.reconcile();
  expect(await program.inbox.countJobs()).toMatchObject({ paused: 0, failed: 0 });
});

test('T38 a paused job resumes when the app is known again, and shows its error until then', async () => {
  const { program, organizationId } = await startInstalled();
  const { faults } = program.registry;
  faults.add({ path: '/app/**', kind: 'status', options: { status: 401 } });
  const [id] = await program.inbox.enqueue([await createReadJob(organizationId, program)]);
  await program.rest();
  const state = () => program.row('SELECT * FROM jobs WHERE id = ?', id ?? 0);
  for (const attempts of [1, 2, 3]) {
    expect(await state()).toMatchObject({ state: 'paused', attempts, error_or_pause_code: 'unauthorized' });
    if (attempts === 3) faults.clear();
    program.time.move(5 * 60_000);
    await program.worker().idle();
  }
  expect(await state()).toMatchObject({ state: 'done', outcome: 'read' });
});

const REFUSAL = { status: 403, body: { statusCode: 403, message: 'Forbidden' } };

test('T39 a refusal that a new token does not repeat is not a missing permission', async () => {
  const { program, organizationId } = await startInstalled();
  program.registry.faults.add({
    path: '/organizations/*/members',
    kind: 'status',
    options: REFUSAL,
    count: 2,
  });
  await program.inbox.enqueue([await createReadJob(organizationId, program)]);
  await program.rest();
  expect(program.registry.faults.list()[0]?.remaining).toBe(0);
  expect(await program.rows("SELECT resource FROM freshness WHERE reason = 'no_permission'")).toEqual([]);
});

test('T39 a permission that is removed and restored during reads opens its resource at the next sync', async () => {
  const { program, organizationId, installationId } = await startInstalled();
  const { apps, installations, faults, deliveries } = program.registry;
  const { organization_members: _, ...fewer } = ALL_PERMISSIONS;
  const meanwhile = async (permissions: Permissions): Promise<void> => {
    const slow = { path: '/organizations/*/addresses', kind: 'delay', options: { delayMs: 300 }, count: 1 };
    faults.add(slow);
    await program.inbox.enqueue([await createReadJob(organizationId, program)]);
    await expect.poll(() => faults.list().at(-1)?.remaining, { interval: 5 }).toBe(0);
    apps.change(program.app.id, { permissions });
    installations.acceptPermissions(installationId);
    await program.rest();
  };
  await meanwhile(fewer);
  const forbidden = () => program.rows("SELECT resource FROM freshness WHERE reason = 'no_permission'");
  expect(await forbidden()).toEqual([{ resource: 'members' }]);
  deliveries.changeSettings({ drop: 1 });
  faults.add({ path: RETIREMENTS, kind: 'status', options: REFUSAL, count: 2 });
  await meanwhile(ALL_PERMISSIONS);
  await program.reconcile();
  expect(await forbidden()).toEqual([]);
  expect(await findDifferences(program)).toEqual([]);
});

test('T44 a suspension that arrives during the read of a long list stops its writes', async () => {
  const { program, installationId, retire } = await startInstalled();
  for (let amount = 0; amount < 120; amount++) retire(0.1);
  await program.rest();
  const { faults, installations } = program.registry;
  faults.add({ path: RETIREMENTS, kind: 'delay', options: { delayMs: 1300 }, count: 1 });
  retire(0.1);
  const met = () => faults.list()[0]?.remaining;
  await expect.poll(met, { interval: 5 }).toBe(0);
  installations.suspend(installationId);
  await program.rest();
  expect(await program.rows('SELECT state FROM installations')).toEqual([{ state: 'suspended' }]);
  expect(await program.rows("SELECT state FROM syncs WHERE state = 'running'")).toEqual([]);
  expect(await program.rows('SELECT count(*) AS rows FROM retirements')).toEqual([{ rows: 120 }]);
  installations.unsuspend(installationId);
  await program.rest();
  expect(await findDifferences(program)).toEqual([]);
});
