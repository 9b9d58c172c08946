import { expect, test } from 'vitest';
import { createInstallationJob, type NewJob } from '../../src/inbox/job.js';
import { openJobStage } from '../support/job-stage.js';
import { toNewDelivery, acceptedDelivery } from '../support/inbox.js';
import {
  ALL_PERMISSIONS,
  callSandbox,
  countCallsTo,
  createOrganization,
  issueCredit,
  retireFromWarehouse,
} from '../support/sandbox.js';

const DISCOVER: NewJob = { kind: 'discover', dedupeKey: 'discover', trigger: 'schedule' };
const DAY_MS = 86_400_000;

const createTick = (intervalMs: number): NewJob => ({
  kind: 'tick',
  dedupeKey: `tick:${intervalMs}`,
  trigger: 'schedule',
  payload: { intervalMs },
});

type Stage = Awaited<ReturnType<typeof openJobStage>>;

/** Returns installation and trigger of the waiting installation jobs, and deletes them. */
async function takeEnqueuedInstallations({ inbox }: Stage): Promise<unknown[]> {
  const waiting = "state = 'waiting' AND kind = 'installation'";
  const rows = await inbox.rows(
    `SELECT installation_id AS id, "trigger" FROM jobs WHERE ${waiting} ORDER BY id`,
  );
  await inbox.change(`DELETE FROM jobs WHERE ${waiting}`);
  return rows.map(Object.values);
}

test('discovery enqueues new installations with trigger schedule, changed ones with trigger worker, and no others', async () => {
  const stage = await openJobStage();
  const { run, registry, installationId, app } = stage;
  const { installations } = registry;
  expect(await run(DISCOVER)).toBe('found 1');
  expect(await takeEnqueuedInstallations(stage)).toEqual([[installationId, 'schedule']]);
  await run(createInstallationJob(installationId, null, 'schedule'));
  expect(await run(DISCOVER)).toBe('nothing new');
  expect(await takeEnqueuedInstallations(stage)).toEqual([]);

  installations.suspend(installationId);
  await run(createInstallationJob(installationId, null, 'person'));
  expect(await run(DISCOVER)).toBe('nothing new');
  expect(await takeEnqueuedInstallations(stage)).toEqual([]);
  installations.unsuspend(installationId);
  await run(createInstallationJob(installationId, null, 'person'));

  await stage.mirror.change("UPDATE installations SET permissions = '{}'");
  expect(await run(DISCOVER)).toBe('nothing new');
  expect(await takeEnqueuedInstallations(stage)).toEqual([[installationId, 'worker']]);
  await run(createInstallationJob(installationId, null, 'person'));

  await stage.mirror.change("UPDATE installations SET organization_id = 'another'");
  expect(await run(DISCOVER)).toBe('nothing new');
  expect(await takeEnqueuedInstallations(stage)).toEqual([[installationId, 'worker']]);
  await stage.mirror.change('UPDATE installations SET organization_id = ?', stage.organization.id);

  const other = installations.install(app.id, createOrganization(stage.sandbox).id);
  await run(createInstallationJob(other.id, null, 'person'));
  installations.uninstall(other.id);
  expect(await run(DISCOVER)).toBe('nothing new');
  expect(await takeEnqueuedInstallations(stage)).toEqual([[other.id, 'worker']]);
  await run(createInstallationJob(other.id, null, 'person'));
  expect(await run(DISCOVER)).toBe('nothing new');
  expect(await takeEnqueuedInstallations(stage)).toEqual([]);

  await stage.mirror.change("UPDATE installations SET state = 'uninstalled' WHERE id = ?", installationId);
  expect(await run(DISCOVER)).toBe('found 1');
  expect(await takeEnqueuedInstallations(stage)).toEqual([[installationId, 'schedule']]);
});

test.each([
  [0, 2],
  [90, 1],
])(
  'a tick enqueues each installation within the interval, and keeps with %i days of retention %i old syncs',
  async (retentionDays, left) => {
    const stage = await openJobStage({ context: { retentionDays } });
    await stage.run(createInstallationJob(stage.installationId, null, 'schedule'));
    await stage.run(createInstallationJob(stage.installationId, null, 'person'));
    const old = "SELECT count(*) FROM syncs WHERE resource = 'warehouse'";
    const before = await stage.mirror.value<number>(old);
    stage.move(100 * DAY_MS);
    expect(await stage.run(createTick(DAY_MS))).toBe('enqueued');
    const runAt = await stage.inbox.value<string>(
      "SELECT run_at FROM jobs WHERE state = 'waiting' AND kind = 'installation'",
    );
    const inMs = Date.parse(runAt ?? '') - stage.now();
    expect(inMs).toBeGreaterThan(0);
    expect(inMs).toBeLessThan(DAY_MS);
    expect({ before, after: await stage.mirror.value<number>(old) }).toEqual({ before: 2, after: left });
  },
);

test('a tick that cannot read the list of installations enqueues a discover job', async () => {
  const stage = await openJobStage();
  stage.registry.faults.add({
    path: '/app/installations',
    kind: 'status',
    options: { status: 503 },
    count: 9,
  });
  expect(await stage.run(createTick(60_000))).toBe('enqueued');
  expect(await stage.inbox.column("SELECT kind FROM jobs WHERE state = 'waiting'")).toEqual(['discover']);
});

function createCertificatesJob({ installationId, organization }: Stage): NewJob {
  const { id } = organization;
  return {
    kind: 'certificates',
    dedupeKey: `certificates:${id}`,
    trigger: 'person',
    part: 'certificates',
    installationId,
    organizationId: id,
  };
}

function retire({ sandbox, app, organization }: Stage, times: number): void {
  const creditId = issueCredit(sandbox, organization.id);
  for (let n = 0; n < times; n += 1)
    retireFromWarehouse(sandbox, { organizationId: organization.id, appId: app.id, creditId }, 1);
}

test('certificates are requested only for known organizations, and a job stops after many refusals in a row', async () => {
  const stage = await openJobStage();
  const { run, registry, installationId } = stage;
  retire(stage, 20);
  expect(await run(createCertificatesJob(stage))).toBe('unknown');
  expect(await run(createInstallationJob('nobody', null, 'person'))).toBe('uninstalled');
  await expect(run({ ...createCertificatesJob(stage), installationId: null })).rejects.toMatchObject({
    code: 'bad_request',
  });
  await run(createInstallationJob(installationId, null, 'person'));
  const path = '/organizations/*/retirements/*/pdf';
  registry.faults.add({ path, kind: 'status', options: { status: 403 }, count: 100 });
  expect(await run(createCertificatesJob(stage))).toBe('refused');
  const twiceEach = 2 * 20;
  expect(countCallsTo(stage.sandbox, '/pdf')).toBeLessThan(twiceEach);
  registry.faults.clear();
  expect(await run(createCertificatesJob(stage))).toMatch(/^read in part/);
  const left = await stage.mirror.value<number>("SELECT count(*) FROM certificates WHERE state <> 'stored'");
  await stage.mirror.change('UPDATE certificates SET due_at = valid_from WHERE attempts > 0');
  expect(left).toBeGreaterThan(0);
  expect(await run(createCertificatesJob(stage))).toBe('fetched');
});

test.each([
  ['of everything', {}],
  ['of certificates', { resources: {} }],
])(
  'a sync %s by a person requests refused certificates at once when access returns',
  async (_description, payload) => {
    const stage = await openJobStage();
    const { run, registry, installationId, mirror } = stage;
    retire(stage, 3);
    await run(createInstallationJob(installationId, null, 'person'));
    const path = '/organizations/*/retirements/*/pdf';
    registry.faults.add({ path, kind: 'status', options: { status: 403 }, count: 100 });
    await run(createCertificatesJob(stage));
    registry.faults.clear();
    const stored = () => mirror.value("SELECT count(*) FROM certificates WHERE state = 'stored'");
    const sync = async (trigger: string) => {
      await run({ ...createInstallationJob(installationId, null, trigger), payload });
      return await run(createCertificatesJob(stage));
    };
    await sync('schedule');
    expect(await stored()).toBe(0);
    expect(await sync('person')).toBe('fetched');
    expect(await stored()).toBe(3);
  },
);

test('a single refused certificate is recorded and does not stop the others', async () => {
  const stage = await openJobStage();
  const { run, registry, installationId, mirror } = stage;
  retire(stage, 12);
  await run(createInstallationJob(installationId, null, 'person'));
  const first = await mirror.value<string>('SELECT min(id) FROM retirements');
  const path = `/organizations/*/retirements/${String(first)}/pdf`;
  registry.faults.add({ path, kind: 'status', options: { status: 403 }, count: 100 });
  expect(await run(createCertificatesJob(stage))).toMatch(/^read in part/);
  expect(await mirror.rows("SELECT retirement_id, error FROM certificates WHERE state <> 'stored'")).toEqual([
    { retirement_id: first, error: expect.stringMatching(/^forbidden: /) },
  ]);
  expect(await run(createCertificatesJob(stage))).toMatch(/^read in part/);
});

test('a project that cannot be read does not stop the others', async () => {
  const stage = await openJobStage();
  const { run, installationId, organization, sandbox, registry, mirror } = stage;
  for (let n = 0; n < 8; n += 1) issueCredit(sandbox, organization.id);
  const readJob = createInstallationJob(installationId, null, 'person');
  await run(readJob);
  const projects = (await mirror.rows('SELECT 1 FROM project_states')).length;
  expect(projects).toBeGreaterThan(4);
  const first = await mirror.value<string>('SELECT min(project_id) FROM project_references');
  await mirror.change('DELETE FROM project_states');
  const path = `/projects/${String(first)}`;
  registry.faults.add({ path, kind: 'status', options: { status: 409 }, count: 100 });
  await run(readJob).catch(() => null);
  expect(await mirror.rows('SELECT 1 FROM project_states')).toHaveLength(projects - 1);
  expect(await mirror.value("SELECT state FROM syncs WHERE resource = 'projects' ORDER BY id DESC")).toBe(
    'partial',
  );
});

test('eight projects in a row that cannot be read do not stop the others, and twelve do', async () => {
  const stage = await openJobStage();
  const { run, installationId, organization, sandbox, registry, mirror } = stage;
  for (let n = 0; n < 16; n += 1) issueCredit(sandbox, organization.id);
  const readJob = createInstallationJob(installationId, null, 'person');
  const readAfterFailures = async (count: number) => {
    await mirror.change('DELETE FROM project_states');
    registry.faults.add({ path: '/projects/*', kind: 'status', options: { status: 409 }, count });
    await run(readJob);
    registry.faults.clear();
    return (await mirror.rows('SELECT 1 FROM project_states')).length;
  };
  expect(await readAfterFailures(8)).toBe(8);
  expect(await readAfterFailures(12)).toBe(0);
});

test('a scheduled round requests each project once a day, without a sync if none is due; a person requests all', async () => {
  const stage = await openJobStage();
  const { run, installationId, organization, sandbox, mirror, move } = stage;
  const round = createInstallationJob(installationId, null, 'schedule');
  const syncs = () =>
    mirror.rows("SELECT state, requests FROM syncs WHERE resource = 'projects' ORDER BY id");
  await run(round);
  expect(await syncs()).toEqual([]);
  for (let n = 0; n < 3; n += 1) issueCredit(sandbox, organization.id);
  await run(round);
  expect(await syncs()).toEqual([{ state: 'complete', requests: 3 }]);
  await run(round);
  move(DAY_MS / 2);
  await run(round);
  expect(await syncs()).toHaveLength(1);
  move(DAY_MS / 2);
  await run(round);
  expect((await syncs())[1]).toEqual({ state: 'complete', requests: 3 });
  await run(createInstallationJob(installationId, null, 'person'));
  expect((await syncs())[2]).toEqual({ state: 'complete', requests: 3 });
});

test('reads of projects and certificates end when their job is stopped', async () => {
  const stage = await openJobStage();
  const { run, installationId, organization, sandbox, mirror } = stage;
  retire(stage, 3);
  for (let n = 0; n < 8; n += 1) issueCredit(sandbox, organization.id);
  let turns = 0;
  const stopAt = (last: number) => async (stop: () => void) => {
    if ((turns += 1) === last) stop();
  };
  const readJob = createInstallationJob(installationId, null, 'person');
  await run(readJob, { onTurn: async () => void (turns += 1) });
  await mirror.change('DELETE FROM project_states');
  const all = turns;
  turns = 0;
  await expect(run(readJob, { onTurn: stopAt(all) })).rejects.toThrow('shutdown');
  expect(await mirror.value("SELECT state FROM syncs WHERE resource = 'projects' ORDER BY id DESC")).not.toBe(
    'complete',
  );
  turns = 0;
  await expect(run(createCertificatesJob(stage), { onTurn: stopAt(1) })).rejects.toThrow('shutdown');
  expect(countCallsTo(stage.sandbox, '/pdf')).toBe(0);
});

test('the first read of an organization enqueues its certificates, even without retirements', async () => {
  const stage = await openJobStage();
  const countCertificateJobs = "SELECT count(*) FROM jobs WHERE kind = 'certificates'";
  await stage.run(createInstallationJob(stage.installationId, null, 'delivery'));
  expect(await stage.inbox.value(countCertificateJobs)).toBe(1);
  await stage.run(createCertificatesJob(stage));
  await stage.run(createInstallationJob(stage.installationId, null, 'delivery'));
  expect(await stage.inbox.value(countCertificateJobs)).toBe(1);
});

test('a scheduled certificates job is unchanged if no certificate is due', async () => {
  const stage = await openJobStage();
  const { run, installationId } = stage;
  const scheduled: NewJob = { ...createCertificatesJob(stage), trigger: 'schedule' };
  retire(stage, 1);
  await run(createInstallationJob(installationId, null, 'person'));
  expect(await run(scheduled)).toBe('fetched');
  expect(await run(scheduled)).toBe('unchanged');
});

test('a job caused by duplicates only ends as unchanged if it found no news', async () => {
  const stage = await openJobStage();
  const { registry, installationId, organization, sandbox, mirror } = stage;
  const readJob = createInstallationJob(installationId, null, 'delivery');
  const again = () => stage.run(readJob, { onlyDuplicates: true });
  expect(await again()).toBe('read');
  expect(await again()).toBe('unchanged');
  expect(await stage.run(readJob)).toBe('read');
  issueCredit(sandbox, organization.id);
  expect(await again()).toBe('read');
  await again();
  await mirror.change("UPDATE installations SET permissions = '{}'");
  expect(await again()).toBe('read');
  registry.installations.suspend(installationId);
  expect(await again()).toBe('suspended');
  expect(await again()).toBe('unchanged');
});

function createRetryJob({ installationId, organization }: Stage, payload: Record<string, unknown>): NewJob {
  const ofOne = { installationId, organizationId: organization.id };
  return { kind: 'retry', dedupeKey: 'x', trigger: 'worker', ...ofOne, payload };
}

test('the outcome names failed resources with their status, and a retry fails only if all its resources fail', async () => {
  const reads: unknown[] = [];
  const durations: number[] = [];
  const stage = await openJobStage({
    context: {
      onRead: ({ resource, state, ms }) => {
        reads.push(`${resource} ${state}`);
        durations.push(ms);
      },
    },
  });
  const { registry, installationId } = stage;
  registry.faults.add({
    path: '/organizations/*/members',
    kind: 'status',
    options: { status: 400 },
    count: 1,
  });
  registry.faults.add({
    path: '/organizations/*/addresses',
    kind: 'status',
    options: { status: 418 },
    count: 9,
  });
  const outcome = await stage.run(createInstallationJob(installationId, null, 'person'));
  expect(outcome).toBe('read in part: addresses failed (418); members failed (400)');
  const again = await stage.inbox.value<string>("SELECT run_at FROM jobs WHERE kind = 'retry'");
  expect(Date.parse(again ?? '') - stage.now()).toBeLessThan(60_000);
  expect(reads.filter(read => String(read).endsWith('failed'))).toEqual([
    'addresses failed',
    'members failed',
  ]);
  // A duration is no instant.
  expect(Math.max(...durations)).toBeLessThan(stage.now());
  const both = createRetryJob(stage, { resources: { addresses: true, members: true } });
  expect(await stage.run(both)).toBe('read in part: addresses failed (418)');
  await expect(stage.run(createRetryJob(stage, { resources: { addresses: true } }))).rejects.toThrow('418');
});

test('a scheduled job does not request an installation that was just listed; retries and deliveries do', async () => {
  const stage = await openJobStage();
  const { installationId, run } = stage;
  const countCalls = () => countCallsTo(stage.sandbox, `/app/installations/${installationId}`);
  await run(createInstallationJob(installationId, null, 'person'));
  const before = countCalls();
  await run(createTick(1));
  await run(createInstallationJob(installationId, null, 'schedule'));
  expect(countCalls()).toBe(before);
  await run(createInstallationJob(installationId, null, 'schedule'), { attempts: 2 });
  await run(createInstallationJob(installationId, null, 'delivery'));
  expect(countCalls()).toBe(before + 2);
});

test('a job whose installation is suspended during the read ends as suspended', async () => {
  const stage = await openJobStage();
  const { registry, installationId } = stage;
  const outcome = await stage.run(createInstallationJob(installationId, null, 'person'), {
    onTurn: async () => void registry.installations.suspend(installationId),
  });
  expect(outcome).toBe('suspended');
});

test('the form of the last answer is stored for each resource', async () => {
  const stage = await openJobStage();
  await stage.run(createInstallationJob(stage.installationId, null, 'person'));
  const forms = 'SELECT resource, answer_form FROM resource_states WHERE answer_form IS NOT NULL ORDER BY 1';
  expect(Object.fromEntries((await stage.mirror.rows(forms)).map(Object.values))).toMatchObject({
    addresses: 'list',
    organization: 'object',
    retirements: 'pages',
    warehouse: 'list',
  });
});

test("reservations are read again when one ends by the registry's clock", async () => {
  const AHEAD_MS = 60_000;
  const stage = await openJobStage({ aheadMs: AHEAD_MS });
  const { registry, app, organization, sandbox, installationId, now } = stage;
  const creditId = issueCredit(sandbox, organization.id);
  registry.reservations.reserve(organization.id, app.id, { creditId, amount: 1 });
  await stage.run(createInstallationJob(installationId, null, 'person'));
  const [end = ''] = await stage.mirror.column<string>('SELECT reserved_to_at FROM reservations');
  const [runAt = ''] = await stage.inbox.column<string>(
    "SELECT run_at FROM jobs WHERE kind = 'reservations'",
  );
  expect(Date.parse(end)).toBeGreaterThan(now());
  expect(Math.abs(Date.parse(runAt) - (Date.parse(end) - AHEAD_MS))).toBeLessThan(5_000);
});

test('reservations are read again when the earliest of all pages ends', async () => {
  const { run, registry, installationId, inbox, now } = await openJobStage();
  const inHours = (hours: number) => new Date(now() + hours * 3_600_000).toISOString();
  const ends = [inHours(1), inHours(2)];
  for (const [currentPage, reservedToDate] of ends.entries()) {
    const id = `r-${currentPage}`;
    const nextPage = currentPage === 0 ? 1 : null;
    const body = {
      reservations: [{ id, creditId: 'c', amount: 1, state: 'outstanding', reservedToDate }],
      pagination: { total: 2, currentPage, pageCount: 2, nextPage },
    };
    const path = '/organizations/*/warehouse/inventory/reservations';
    registry.faults.add({ path, kind: 'wrongShape', options: { body }, count: 1 });
  }
  await run(createInstallationJob(installationId, null, 'person'));
  const [runAt = ''] = await inbox.column<string>("SELECT run_at FROM jobs WHERE kind = 'reservations'");
  expect(Date.parse(runAt)).toBeLessThan(Date.parse(ends[1] ?? ''));
});

test('a reservation that ends in a five-digit year is read again after a day', async () => {
  const stage = await openJobStage();
  const { registry, app, organization, sandbox, installationId, now } = stage;
  const creditId = issueCredit(sandbox, organization.id);
  registry.reservations.reserve(organization.id, app.id, { creditId, amount: 1 });
  const path = `/organizations/${organization.id}/warehouse/inventory/reservations`;
  const { body } = await callSandbox(sandbox, `GET ${path}`, { token: stage.token });
  const text = JSON.stringify(body).replaceAll(/("reservedToDate":")[^"]+/g, '$19999-12-31T23:59:59.999Z');
  const options = { body: JSON.parse(text) as unknown };
  registry.faults.add({ path, kind: 'wrongShape', options, count: 9 });
  await stage.run(createInstallationJob(installationId, null, 'person'));
  const [runAt = ''] = await stage.inbox.column<string>(
    "SELECT run_at FROM jobs WHERE kind = 'reservations'",
  );
  expect(Math.abs(Date.parse(runAt) - now() - DAY_MS)).toBeLessThan(5_000);
});

test('a list in another form has failed if it was read before, and is not offered otherwise', async () => {
  const stage = await openJobStage();
  const { registry, installationId } = stage;
  const look = () => stage.run(createInstallationJob(installationId, null, 'person'));
  const members = () =>
    stage.mirror.value("SELECT not_offered_at FROM resource_states WHERE resource = 'members'");
  registry.faults.add({ path: '/organizations/*/members', kind: 'wrongShape', count: 1 });
  expect(await look()).toBe('read');
  expect(await members()).not.toBeNull();
  expect(await look()).toBe('read');
  registry.faults.add({ path: '/organizations/*/members', kind: 'wrongShape', count: 1 });
  expect(await look()).toBe('read in part: members failed (other form)');
  expect(await members()).toBeNull();
});

test('a delivery that arrives during other reads has the warehouse read again at once', async () => {
  const stage = await openJobStage();
  const { installationId, organization, sandbox, mirror, context, move, now } = stage;
  issueCredit(sandbox, organization.id);
  const credits: unknown[] = [];
  await stage.run(createInstallationJob(installationId, null, 'person'), {
    onTurn: async () => {
      credits.push(await mirror.value('SELECT count(*) FROM warehouse_credits'));
      if (credits.length !== 4) return;
      issueCredit(sandbox, organization.id);
      move(2_000);
      const delivery = acceptedDelivery({
        receivedAt: now() - 1,
        installationId,
        organizationId: organization.id,
      });
      await context.inbox.store([toNewDelivery(now(), delivery)]);
    },
  });
  expect(credits[3]).toBe(1);
  expect(credits.slice(4, 8)).toContain(2);
  expect(countCallsTo(stage.sandbox, '/warehouse/inventory')).toBe(2);
});

const MEMBERS = '/organizations/*/members';
const readMembersState = ({ mirror }: Stage) =>
  mirror.row(
    `SELECT no_permission_at IS NOT NULL AS unpermitted, refusals, not_offered_at IS NOT NULL AS unoffered
     FROM resource_states WHERE resource = 'members'`,
  );

test.each([
  ['refused repeatedly is marked as refused', { path: MEMBERS, status: 403, count: 99 }, 'read', [1, 1, 0]],
  [
    'refused once, with each of two tokens, is read',
    { path: MEMBERS, status: 403, count: 2 },
    'read',
    [0, 0, 0],
  ],
  [
    'not found, while others are, is marked as not offered',
    { path: MEMBERS, status: 404, count: 99 },
    'read',
    [0, 1, 1],
  ],
  [
    'not found, like all others, has failed',
    { path: '/organizations/**', status: 404, count: 99 },
    /^read in part: .*members.* failed \(404\)/,
    [0, 0, 0],
  ],
])('a list that is %s', async (_description, { path, status, count }, outcome, state) => {
  const stage = await openJobStage();
  stage.registry.faults.add({ path, kind: 'status', options: { status }, count });
  expect(await stage.run(createInstallationJob(stage.installationId, null, 'person'))).toMatch(outcome);
  expect(Object.values((await readMembersState(stage)) ?? {})).toEqual(state);
});

test('a retry reads a list that was never offered and whose next read failed', async () => {
  const stage = await openJobStage();
  const { registry, installationId } = stage;
  for (const status of [404, 418]) {
    registry.faults.add({ path: MEMBERS, kind: 'status', options: { status }, count: 1 });
    await stage.run(createInstallationJob(installationId, null, 'person'));
  }
  const payload = { resources: { members: true } };
  const retries = await stage.inbox.column("SELECT payload FROM jobs WHERE kind = 'retry'");
  expect(retries).toEqual([JSON.stringify(payload)]);
  expect(await stage.run(createRetryJob(stage, payload))).toBe('read');
  expect(countCallsTo(stage.sandbox, '/members')).toBe(3);
  expect(Object.values((await readMembersState(stage)) ?? {})).toEqual([0, 0, 0]);
});

test('a list whose permission is removed during its read is skipped, and the job continues', async () => {
  const stage = await openJobStage();
  const { registry, installationId, app } = stage;
  const { organization_members: _members, ...rest } = ALL_PERMISSIONS;
  let turns = 0;
  const outcome = await stage.run(createInstallationJob(installationId, null, 'person'), {
    onTurn: async () => {
      turns += 1;
      if (turns !== 1) return;
      registry.apps.change(app.id, { permissions: rest });
      registry.installations.acceptPermissions(installationId);
    },
  });
  expect(outcome).toBe('read');
  expect(Object.values((await readMembersState(stage)) ?? {})).toEqual([1, 0, 0]);
});

test('a list that never has as many rows as it claims fails after three passes', async () => {
  const stage = await openJobStage();
  const pagination = { total: 5, currentPage: 0, pageCount: 1, nextPage: null };
  const body = { retirements: [], pagination };
  const path = '/organizations/*/retirements';
  stage.registry.faults.add({ path, kind: 'wrongShape', options: { body }, count: 99 });
  expect(await stage.run(createInstallationJob(stage.installationId, null, 'person'))).toBe(
    'read in part: retirements failed (partial)',
  );
  expect(countCallsTo(stage.sandbox, '/retirements')).toBe(3);
});

test.each([null, 403, 410])(
  'a retirement that is missing from the list but not confirmed as gone (%s) stays, and new ones are added',
  async status => {
    const stage = await openJobStage();
    const { registry, mirror, installationId } = stage;
    retire(stage, 3);
    await stage.run(createInstallationJob(installationId, null, 'person'));
    const documents = await mirror.column<string>('SELECT document FROM retirements');
    const pagination = { total: 3, currentPage: 0, pageCount: 1, nextPage: null };
    const listed: object[] = documents.slice(1).map(text => JSON.parse(text));
    const body = { retirements: [{ ...listed[0], id: 'new' }, ...listed], pagination };
    registry.faults.add({
      path: '/organizations/*/retirements',
      kind: 'wrongShape',
      options: { body },
      count: 3,
    });
    if (status !== null)
      registry.faults.add({
        path: '/organizations/*/retirements/*',
        kind: 'status',
        options: { status },
        count: 9,
      });
    expect(await stage.run(createInstallationJob(installationId, null, 'person'))).toBe('read');
    const ids = await mirror.column<string>('SELECT id FROM retirements ORDER BY id');
    expect([ids.length, ids.includes('new')]).toEqual([4, true]);
  },
);

test('a project unknown to the registry is marked as unavailable and fails no job', async () => {
  const stage = await openJobStage();
  issueCredit(stage.sandbox, stage.organization.id);
  stage.registry.faults.add({ path: '/projects/*', kind: 'status', options: { status: 404 }, count: 9 });
  expect(await stage.run(createInstallationJob(stage.installationId, null, 'person'))).toBe('read');
  expect(await stage.mirror.column('SELECT state FROM project_states')).toEqual(['unavailable']);
});

test('a scheduled round reads rarely read lists after a change or an unanswered delivery', async () => {
  const stage = await openJobStage();
  const { installationId, sandbox, organization, context, now } = stage;
  const round = async (): Promise<number> => {
    const before = countCallsTo(stage.sandbox, '/addresses');
    await stage.run(createInstallationJob(installationId, null, 'schedule'));
    return countCallsTo(stage.sandbox, '/addresses') - before;
  };
  issueCredit(sandbox, organization.id);
  await stage.run(createInstallationJob(installationId, null, 'person'));
  expect(await round()).toBe(0);
  const body = { retirements: [{ id: 'r-1', amount: 1 }] };
  const path = '/organizations/*/retirements';
  stage.registry.faults.add({ path, kind: 'wrongShape', options: { body }, count: 99 });
  expect(await round()).toBe(1);
  expect(await round()).toBe(0);
  const delivery = acceptedDelivery({ receivedAt: now(), installationId, organizationId: organization.id });
  await context.inbox.store([toNewDelivery(now(), delivery)]);
  expect(await round()).toBe(1);
  expect(await round()).toBe(0);
});

test('rows of other organizations are left out; the error names three and counts all', async () => {
  const stage = await openJobStage();
  const { id: organizationId } = stage.organization;
  const credits = [1, 2, 3, 4, 5].map(n => ({
    id: `their-${n}`,
    amount: 1,
    organizationId: 'somebody-else',
  }));
  const path = '/organizations/*/warehouse/inventory';
  const body = { organizationId, credits };
  stage.registry.faults.add({ path, kind: 'wrongShape', options: { body }, count: 9 });
  const outcome = await stage.run(createInstallationJob(stage.installationId, null, 'person'));
  expect(outcome).toBe('read in part: warehouse failed (partial)');
  expect(await stage.mirror.value("SELECT error FROM resource_states WHERE resource = 'warehouse'")).toMatch(
    /their-1 of somebody-else, their-2 of somebody-else, their-3 of somebody-else and 2 more$/,
  );
});

test('repeated pages without a total are not a whole list, and close no row', async () => {
  const stage = await openJobStage();
  const { registry, mirror, installationId } = stage;
  retire(stage, 3);
  await stage.run(createInstallationJob(installationId, null, 'person'));
  const [document = ''] = await mirror.column<string>('SELECT document FROM retirements');
  const body = { retirements: [JSON.parse(document) as unknown], pagination: { nextPage: 1 } };
  registry.faults.add({
    path: '/organizations/*/retirements',
    kind: 'wrongShape',
    options: { body },
    count: 99,
  });
  const outcome = await stage.run(createInstallationJob(installationId, null, 'person'));
  expect(outcome).toBe('read in part: retirements failed (bad answer)');
  expect(await mirror.value('SELECT count(*) FROM retirements')).toBe(3);
});

/** For each list, an answer with one good row and one row without an id or content. */
const LISTS_WITH_A_BAD_ROW = [
  ['warehouse', '/warehouse/inventory', { credits: [{ id: 'c-1', amount: 1 }, { amount: 2 }] }],
  [
    'inventory',
    '/inventory',
    {
      credits: [
        { id: 'c-1', amount: 1 },
        { id: '\u0007', amount: 2 },
      ],
    },
  ],
  [
    'reservations',
    '/warehouse/inventory/reservations',
    { reservations: [{ id: 'r-1', creditId: 'c', amount: 1 }, { id: 'r-2' }] },
  ],
  [
    'inventory_requests',
    '/inventory/requests',
    { creditRequests: [{ id: 'q-1', creditId: 'c', amount: 1 }, { creditId: 'c' }] },
  ],
  ['addresses', '/addresses', { addresses: [{ id: 'a-1', address: '0x1' }, { id: 'a-2' }] }],
  ['members', '/members', { members: [{ id: 'm-1', email: 'ada@example.com' }, { id: 'm-2' }] }],
  [
    'retirements',
    '/retirements',
    {
      retirements: [
        { id: 'r-1', amount: 1 },
        { id: '../r', amount: 1 },
      ],
    },
  ],
] as const;

test.each(LISTS_WITH_A_BAD_ROW)(
  'one unreadable row of %s is reported and does not stop the others',
  async (resource, ending, rows) => {
    const stage = await openJobStage();
    const { registry, installationId, mirror } = stage;
    const pagination = { total: 2, currentPage: 0, pageCount: 1, nextPage: null };
    const body = { organizationId: stage.organization.id, pagination, ...rows };
    registry.faults.add({
      path: `/organizations/*${ending}`,
      kind: 'wrongShape',
      options: { body },
      count: 99,
    });
    for (let times = 0; times < 2; times += 1)
      expect(await stage.run(createInstallationJob(installationId, null, 'person'))).toBe('read');
    const state = await mirror.row(
      'SELECT rows, outcome, error_code, error FROM resource_states WHERE resource = ?',
      resource,
    );
    expect(state).toEqual({
      rows: 1,
      outcome: 'complete',
      error_code: 'rows_unreadable',
      error: expect.stringMatching(/^rows could not be read and were left out: \w+\[1\]/),
    });
  },
);

test('a member that is unreadable for a while keeps its row, and a member that left loses it', async () => {
  const stage = await openJobStage();
  const { registry, installationId, mirror } = stage;
  const look = async (...members: object[]) => {
    registry.faults.clear();
    const options = { body: { members } };
    registry.faults.add({ path: MEMBERS, kind: 'wrongShape', options, count: 99 });
    return await stage.run(createInstallationJob(installationId, null, 'person'));
  };
  const names = () => mirror.column('SELECT full_name FROM members ORDER BY id');
  const [ada, bob, eve] = ['Ada', 'Bob', 'Eve'].map(name => ({ id: name, fullName: name }));
  if (ada === undefined || bob === undefined || eve === undefined) throw new Error('expected three');
  expect(await look(ada, bob, eve)).toBe('read');
  expect(await look(ada, { id: 'Bob', fullName: ' ' })).toBe('read');
  expect(await names()).toEqual(['Ada', 'Bob']);
  expect(await look(ada, { fullName: ' ' })).toMatch(/members failed \(removals unconfirmed\)$/);
  expect(await names()).toEqual(['Ada', 'Bob']);
  expect(await look(ada, { ...bob, fullName: 'Bob B.' })).toBe('read');
  expect(await names()).toEqual(['Ada', 'Bob B.']);
});

test('a retry of several resources waits for the one with the longest delay', async () => {
  const { run, registry, installationId, inbox } = await openJobStage();
  const job = createInstallationJob(installationId, null, 'person');
  const setMembers = (members: object[]) => {
    registry.faults.clear();
    registry.faults.add({ path: MEMBERS, kind: 'wrongShape', options: { body: { members } }, count: 99 });
  };
  setMembers([{ id: 'Ada', fullName: 'Ada' }]);
  await run(job);
  setMembers([]);
  const path = '/organizations/*/addresses';
  registry.faults.add({ path, kind: 'status', options: { status: 418 }, count: 1 });
  expect(await run(job)).toBe('read in part: addresses failed (418); members failed (removals unconfirmed)');
  const [retry] = await inbox.rows<Record<'created_at' | 'run_at', string>>(
    "SELECT created_at, run_at FROM jobs WHERE kind = 'retry'",
  );
  expect(Date.parse(retry?.run_at ?? '') - Date.parse(retry?.created_at ?? '')).toBeGreaterThan(60_000);
});

test('a list fails if none of its several rows can be read', async () => {
  const stage = await openJobStage();
  const options = { body: { members: [{ uuid: 'm-1' }, { uuid: 'm-2' }] } };
  stage.registry.faults.add({ path: MEMBERS, kind: 'wrongShape', options, count: 99 });
  const outcome = await stage.run(createInstallationJob(stage.installationId, null, 'person'));
  expect(outcome).toBe('read in part: members failed (bad answer)');
});

test('an unreadable row in the list of installations is reported and does not stop the others', async () => {
  const stage = await openJobStage();
  const { registry, installationId, organization } = stage;
  const good = { id: installationId, organizationId: organization.id, permissions: ALL_PERMISSIONS };
  const installations = [{ id: '../x' }, good];
  const pagination = { total: 2, currentPage: 0, pageCount: 1, nextPage: null };
  const options = { body: { installations, pagination } };
  registry.faults.add({ path: '/app/installations', kind: 'wrongShape', options, count: 9 });
  expect(await stage.run(DISCOVER)).toMatch(/^found 1; 1 could not be read \(installations\[0\]\.id: /);
  expect(await takeEnqueuedInstallations(stage)).toEqual([[installationId, 'schedule']]);
});

test('a list known as not offered keeps that mark when it is read alone', async () => {
  const stage = await openJobStage();
  stage.registry.faults.add({ path: MEMBERS, kind: 'status', options: { status: 404 }, count: 99 });
  expect(await stage.run(createInstallationJob(stage.installationId, null, 'person'))).toBe('read');
  expect(await stage.run(createRetryJob(stage, { resources: { members: true } }))).toBe('read');
  expect(Object.values((await readMembersState(stage)) ?? {})).toEqual([0, 2, 1]);
});

test('a refused urgent read is not repeated by the same job', async () => {
  const stage = await openJobStage();
  const { installationId, organization, registry, context, move, now } = stage;
  await stage.run(createInstallationJob(installationId, null, 'person'));
  const before = countCallsTo(stage.sandbox, '/warehouse/inventory');
  let turns = 0;
  await stage.run(createInstallationJob(installationId, null, 'person'), {
    onTurn: async () => {
      turns += 1;
      const fault = {
        path: '/organizations/*/warehouse/inventory',
        kind: 'status',
        options: { status: 403 },
      };
      if (turns === 4) registry.faults.add({ ...fault, count: 99 });
      if (turns < 4) return;
      move(2_000);
      const asks = { receivedAt: now() - 1, installationId, organizationId: organization.id };
      await context.inbox.store([
        toNewDelivery(now(), acceptedDelivery({ ...asks, sha256: `digest-${turns}` })),
      ]);
    },
  });
  expect(turns).toBeGreaterThan(6);
  const withTwoTokens = 2;
  expect(countCallsTo(stage.sandbox, '/warehouse/inventory') - before).toBe(1 + withTwoTokens);
});
