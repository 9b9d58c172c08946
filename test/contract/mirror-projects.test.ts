import { describe, expect, test } from 'vitest';
import type { ProjectAnswer } from '../../src/mirror/port/mirror-port.js';
import { ENGINES, type TestMirror, MINUTE, TRAFFIC, writeInstallation } from '../support/mirror/open.js';
import { credit } from '../support/mirror/rows.js';

const HOUR = 60 * MINUTE;
const FAULT = { code: 'timeout', message: 'no answer' };

const FIRST = { organizationId: 'organization-1', claim: 1, trigger: 'schedule' } as const;
const SECOND = { ...FIRST, organizationId: 'organization-2' };

const instantAgo = (ms: number) => Date.now() - ms;
const formatInstant = (at: number) => new Date(at).toISOString();
const createCreditsOf = (...ids: string[]) =>
  ids.map(id => credit(`credit of ${id}`, { project: { id, fullName: null } }));

/** Reads credits that reference these projects. Instants are relative to the present, because the view uses the real clock. */
async function readCredits(
  { read, clock }: TestMirror,
  at: number,
  ids: readonly string[],
  organizationId?: string,
) {
  clock.at = at;
  const credits = createCreditsOf(...ids).map(each => ({
    ...each,
    organizationId: organizationId ?? each.organizationId,
  }));
  await read('warehouse', credits, { startedAt: at, ...(organizationId && { organizationId }) });
}

/** Makes one walk that requests these projects; the registry refuses each. */
async function requestProjects(
  { mirror, clock }: TestMirror,
  at: number,
  ids: readonly string[],
  {
    fails = false,
    ...how
  }: { organizationId?: string; trigger?: string; claim?: number; fails?: boolean } = {},
) {
  clock.at = at;
  const walk = await mirror.beginProjects({ ...FIRST, ...how, startedAt: at });
  await walk.write(ids.map((id): ProjectAnswer => ({ id, requestedAt: at, error: 'not_found' })));
  if (fails) await walk.abandon(FAULT, TRAFFIC);
  else await walk.finish(TRAFFIC);
}

const readProjectsFreshness = ({ db }: TestMirror, organizationId = 'organization-1') =>
  db.row(
    "SELECT state, reason, as_of, error FROM freshness WHERE resource = 'projects' AND organization_id = ?",
    organizationId,
  );
const createFreshRow = (at: number, error: string | null = null) => ({
  state: 'fresh',
  reason: null,
  as_of: formatInstant(at),
  error,
});

describe.each(ENGINES)('$name', ({ stage }) => {
  test('projects are as fresh as the project requested longest ago, by any organization', async () => {
    const scene = await stage();
    const [a, b, c] = [instantAgo(20 * HOUR), instantAgo(10 * HOUR), instantAgo(5 * HOUR)];
    await writeInstallation({ ...scene, clock: { at: a } }, 2);
    await readCredits(scene, a, ['project-1', 'project-2']);
    await readCredits(scene, a, ['project-2'], 'organization-2');
    await requestProjects(scene, a, ['project-1', 'project-2']);
    expect(await readProjectsFreshness(scene)).toEqual(createFreshRow(a));
    expect(await readProjectsFreshness(scene, 'organization-2')).toEqual(createFreshRow(a));
    await requestProjects(scene, b, ['project-2'], SECOND);
    expect(await readProjectsFreshness(scene)).toEqual(createFreshRow(a));
    expect(await readProjectsFreshness(scene, 'organization-2')).toEqual(createFreshRow(b));
    await requestProjects(scene, c, ['project-1']);
    expect(await readProjectsFreshness(scene)).toEqual(createFreshRow(b));
  });

  test('projects are never_read while one of them was never requested', async () => {
    const scene = await stage();
    const at = instantAgo(HOUR);
    await readCredits(scene, at, ['project-1']);
    await requestProjects(scene, at, ['project-1']);
    await readCredits(scene, at + MINUTE, ['project-1', 'project-2']);
    expect(await readProjectsFreshness(scene)).toMatchObject({
      state: 'never_read',
      reason: 'waiting',
      as_of: null,
    });
    await requestProjects(scene, at + 2 * MINUTE, [], { fails: true });
    expect(await readProjectsFreshness(scene)).toMatchObject({
      state: 'never_read',
      reason: 'read_failed',
      as_of: null,
    });
  });

  test('if no row references a project, projects are as fresh as the lists that could', async () => {
    const scene = await stage();
    const [a, b] = [instantAgo(3 * HOUR), instantAgo(HOUR)];
    expect(await readProjectsFreshness(scene)).toMatchObject({ state: 'never_read', reason: 'waiting' });
    await readCredits(scene, a, []);
    scene.clock.at = b;
    await scene.read('reservations', [], { startedAt: b });
    expect(await readProjectsFreshness(scene)).toEqual(createFreshRow(a));
  });

  test('projects are overdue after two days, and never stale because of a webhook or a missing worker', async () => {
    const scene = await stage();
    const { mirror } = scene;
    await mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1', scheduleSeconds: 600 });
    const [a, b] = [instantAgo(49 * HOUR), instantAgo(47 * HOUR)];
    await readCredits(scene, a, ['project-1']);
    await requestProjects(scene, a, ['project-1']);
    expect(await readProjectsFreshness(scene)).toMatchObject({
      state: 'stale',
      reason: 'overdue',
      as_of: formatInstant(a),
    });
    await requestProjects(scene, b, ['project-1']);
    expect(await readProjectsFreshness(scene)).toEqual(createFreshRow(b));
    const seen = formatInstant(instantAgo(HOUR));
    await mirror.report({ at: seen, awaitedInstallations: [], unreadDeliveries: [] });
    expect(await scene.db.value("SELECT reason FROM freshness WHERE resource = 'warehouse'")).toBe(
      'worker_gone',
    );
    expect(await readProjectsFreshness(scene)).toEqual(createFreshRow(b));
    const { waitingResources: announced } = await mirror.readFreshnessFacts();
    const known = await mirror.listKnownResources(['installation-1']);
    expect(announced).toEqual([]);
    expect(known.get('installation-1')?.map(({ resource }) => resource)).toEqual(['warehouse']);
  });

  test('a failed or interrupted walk makes projects stale once one is older than a day, until any organization requests it', async () => {
    const scene = await stage();
    const [a, b] = [instantAgo(26 * HOUR), instantAgo(25 * HOUR)];
    await writeInstallation({ ...scene, clock: { at: a } }, 2);
    await readCredits(scene, a, ['project-1', 'project-2']);
    await readCredits(scene, a, ['project-1'], 'organization-2');
    await requestProjects(scene, a, ['project-1', 'project-2']);
    const failing = { trigger: 'delivery', fails: true };
    await requestProjects(scene, a + HOUR / 2, [], failing);
    await scene.db.change('UPDATE project_states SET checked_at = ?', formatInstant(instantAgo(HOUR)));
    expect(await readProjectsFreshness(scene)).toMatchObject({ state: 'fresh', error: FAULT.message });
    await scene.db.change('UPDATE project_states SET checked_at = ?', formatInstant(a));
    await requestProjects(scene, b, [], failing);
    expect(await readProjectsFreshness(scene)).toMatchObject({
      state: 'stale',
      reason: 'read_failed',
      as_of: formatInstant(a),
    });
    await requestProjects(scene, b, ['project-2'], failing);
    expect(await readProjectsFreshness(scene)).toMatchObject({ state: 'stale', reason: 'read_interrupted' });
    const c = instantAgo(23 * HOUR);
    await requestProjects(scene, c, ['project-1'], SECOND);
    await requestProjects(scene, instantAgo(22 * HOUR), ['project-2'], SECOND);
    expect(await readProjectsFreshness(scene)).toEqual(createFreshRow(c, FAULT.message));
  });

  test('a project is due if it was never requested, or only by a clock that was ahead', async () => {
    const scene = await stage();
    const now = instantAgo(0);
    await readCredits(scene, now, ['project-1', 'project-2', 'project-3']);
    await requestProjects(scene, now + HOUR, ['project-1']);
    await requestProjects(scene, now, ['project-2'], { claim: 2 });
    const walk = await scene.mirror.beginProjects({ ...FIRST, claim: 2, startedAt: now });
    expect(await walk.listDue(now - HOUR)).toEqual(['project-1', 'project-3']);
  });
});
