import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { type InstalledProgram, startInstalled, startProgram } from '../support/program.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';

const MEMBERS = '/organizations/*/members';
const ADDRESSES = '/organizations/*/addresses';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const answer = (statusCode: number, message: string) => ({
  kind: 'status',
  options: { status: statusCode, body: { statusCode, message } },
});
const REFUSED = answer(403, 'Forbidden');
const ABSENT = answer(404, 'Cannot GET this');
const ONE_ADDRESS = { id: 'organization-1', fullName: 'Fjord Marine', publicKey: '0xabc' };
const ONE_OBJECT = { kind: 'wrongShape', options: { body: ONE_ADDRESS } };

type InstalledPart = Pick<InstalledProgram, 'program' | 'organizationId' | 'installationId'>;

/** Lets a person request a read, one second later than before, so that no two jobs merge. */
async function requestRead({ program, organizationId, installationId }: InstalledPart): Promise<void> {
  program.time.move(1000);
  await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
  await program.rest();
}

const listUnusualStates = ({ program }: InstalledPart) =>
  program.rows(
    "SELECT resource, CASE state WHEN 'fresh' THEN 'fresh, failing' ELSE coalesce(reason, state) END AS state FROM freshness WHERE state <> 'fresh' OR failing_since IS NOT NULL ORDER BY resource",
  );

/** Starts a mirror whose registry has these faults from the first sync on. */
async function startWithFaults(...faults: readonly object[]) {
  const program = await startProgram();
  for (const fault of faults) program.registry.faults.add(fault);
  const { id: organizationId } = createOrganization(program.sandbox);
  issueCredit(program.sandbox, organizationId);
  const { id: installationId } = program.registry.installations.install(program.app.id, organizationId);
  await program.rest();
  const hits = () => program.registry.faults.list().map(fault => fault.hits);
  return { program, organizationId, installationId, hits };
}

test('T39 a lasting refusal is believed for a minute, then longer each time, and stops no other resource', async () => {
  const installed = await startInstalled();
  const { program, calls } = installed;
  program.registry.faults.add({ path: MEMBERS, ...REFUSED });
  await requestRead(installed);
  expect(await listUnusualStates(installed)).toEqual([{ resource: 'members', state: 'no_permission' }]);
  const wasRequested: boolean[] = [];
  for (const wait of [20_000, 45_000, MINUTE_MS, 65_000, 2 * MINUTE_MS, 125_000]) {
    const before = calls('/members');
    await program.reconcile(wait);
    wasRequested.push(calls('/members') > before);
  }
  expect(wasRequested).toEqual([false, true, false, true, false, true]);
  program.registry.faults.clear();
  await program.reconcile(9 * MINUTE_MS);
  expect(await listUnusualStates(installed)).toEqual([]);
  expect(await program.rows("SELECT refusals FROM resource_states WHERE resource = 'members'")).toEqual([
    { refusals: 0 },
  ]);
});

test('T39 a refused resource is requested at once by a person or after accepted permissions, by a delivery after a minute', async () => {
  const installed = await startInstalled();
  const { program, installationId, retire, calls } = installed;
  const { installations } = program.registry;
  program.registry.faults.add({ path: MEMBERS, ...REFUSED });
  for (let times = 0; times < 5; times++) await requestRead(installed);
  const asks = async (cause: () => unknown) => {
    const before = calls('/members');
    cause();
    await program.rest();
    return calls('/members') > before;
  };
  const deliver = () => retire(0.5);
  expect(await asks(deliver)).toBe(false);
  program.time.move(MINUTE_MS);
  expect(await asks(deliver)).toBe(true);
  expect(await asks(deliver)).toBe(false);
  program.time.move(1000);
  expect(await asks(() => installations.acceptPermissions(installationId))).toBe(true);
  program.registry.faults.clear();
  await requestRead(installed);
  expect(await listUnusualStates(installed)).toEqual([]);
});

test('a resource that is never offered keeps its last answer, is requested daily, and fails no job', async () => {
  const started = await startWithFaults({ path: ADDRESSES, ...ONE_OBJECT }, { path: MEMBERS, ...ABSENT });
  const { program, hits } = started;
  const notOffered = [
    { resource: 'addresses', state: 'not_offered' },
    { resource: 'members', state: 'not_offered' },
  ];
  expect(await listUnusualStates(started)).toEqual(notOffered);
  expect(
    await program.rows(
      `SELECT answer_status, answer_form, answer_text FROM resource_states
       WHERE resource IN ('addresses', 'members', 'organization', 'retirements') ORDER BY resource`,
    ),
  ).toEqual([
    { answer_status: 200, answer_form: 'object', answer_text: JSON.stringify(ONE_ADDRESS) },
    { answer_status: 404, answer_form: 'none', answer_text: null },
    { answer_status: 200, answer_form: 'object', answer_text: null },
    { answer_status: 200, answer_form: 'pages', answer_text: null },
  ]);
  expect(hits()).toEqual([1, 1]);
  for (let hour = 0; hour < 5; hour++) await program.reconcile(4 * 3_600_000);
  expect(hits()).toEqual([1, 1]);
  await program.reconcile(DAY_MS / 4);
  expect(hits()).toEqual([2, 2]);
  expect(await listUnusualStates(started)).toEqual(notOffered);
  expect(await program.inbox.countJobs()).toMatchObject({ waiting: 0, paused: 0, failed: 0 });
  program.registry.faults.clear();
  await requestRead(started);
  expect(await listUnusualStates(started)).toEqual([]);
});

test('a 404 from every list does not mark one as not offered', async () => {
  const started = await startWithFaults({ path: '/organizations/**', ...ABSENT });
  const states = (await listUnusualStates(started)).map(row => Object(row)['state']);
  expect(states).toContain('read_failed');
  expect(states).not.toContain('not_offered');
  expect(await started.program.rows("SELECT kind FROM jobs WHERE state = 'waiting'")).toEqual([
    { kind: 'retry' },
  ]);
});

test('a warehouse in another form fails at first, then counts as not offered and not available', async () => {
  const installed = await startInstalled();
  const { program } = installed;
  const path = '/organizations/*/warehouse/inventory';
  program.registry.faults.add({ path, ...ONE_OBJECT });
  program.time.move(1000);
  const { installationId, organizationId } = installed;
  await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
  await expect
    .poll(() => listUnusualStates(installed))
    .toEqual([{ resource: 'warehouse', state: 'fresh, failing' }]);
  await program.rest();
  expect(await listUnusualStates(installed)).toEqual([{ resource: 'warehouse', state: 'not_offered' }]);
  expect(await program.rows('SELECT 1 FROM available_credits')).toEqual([]);
  expect(await program.rows('SELECT 1 FROM warehouse_credits')).toHaveLength(1);
  program.registry.faults.clear();
  await program.reconcile(2 * MINUTE_MS);
  expect(await listUnusualStates(installed)).toEqual([]);
  expect(await program.rows('SELECT 1 FROM available_credits')).toHaveLength(1);
});
