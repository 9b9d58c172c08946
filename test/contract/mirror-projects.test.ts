import { describe, expect, test } from 'vitest';
import type { ProjectAnswer } from '../../src/mirror/port.js';
import { ENGINES, type TestMirror, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { credit, installation } from '../support/mirror/rows.js';

const HOUR = 60 * MINUTE;
const FAULT = { code: 'timeout', message: 'no answer' };

const FIRST = { organizationId: 'organization-1', claim: 1, trigger: 'schedule' } as const;
const SECOND = { ...FIRST, organizationId: 'organization-2' };

const ago = (ms: number) => Date.now() - ms;
const instant = (at: number) => new Date(at).toISOString();
const naming = (...ids: string[]) =>
  ids.map(id => credit(`credit of ${id}`, { project: { id, fullName: null } }));

/** The view asks the real clock for the time: every instant is told by how long ago it was. */
async function readCredits(
  { read, clock }: TestMirror,
  at: number,
  ids: readonly string[],
  organizationId?: string,
) {
  clock.at = at;
  const credits = naming(...ids).map(each => ({
    ...each,
    organizationId: organizationId ?? each.organizationId,
  }));
  await read('warehouse', credits, { startedAt: at, ...(organizationId && { organizationId }) });
}

/** One walk that requests these projects, each of which is refused. */
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

async function installSecond({ mirror }: TestMirror, at: number) {
  await mirror.writeInstallation({
    installation: installation('installation-2', { organizationId: 'organization-2' }),
    state: 'active',
    claim: 1,
    startedAt: at,
    arrivedAt: at,
    trigger: 'delivery',
  });
}

const freshnessOf = ({ db }: TestMirror, organizationId = 'organization-1') =>
  db.row(
    "SELECT state, reason, as_of, error FROM freshness WHERE resource = 'projects' AND organization_id = ?",
    organizationId,
  );
const fresh = (at: number, error: string | null = null) => ({
  state: 'fresh',
  reason: null,
  as_of: instant(at),
  error,
});

describe.each(ENGINES)('$name', ({ stage }) => {
  test('projects are as fresh as the project requested longest ago, by any organization', async () => {
    const scene = await stage();
    const [a, b, c] = [ago(20 * HOUR), ago(10 * HOUR), ago(5 * HOUR)];
    await installSecond(scene, a);
    await readCredits(scene, a, ['project-1', 'project-2']);
    await readCredits(scene, a, ['project-2'], 'organization-2');
    await requestProjects(scene, a, ['project-1', 'project-2']);
    expect(await freshnessOf(scene)).toEqual(fresh(a));
    expect(await freshnessOf(scene, 'organization-2')).toEqual(fresh(a));
    await requestProjects(scene, b, ['project-2'], SECOND);
    expect(await freshnessOf(scene)).toEqual(fresh(a));
    expect(await freshnessOf(scene, 'organization-2')).toEqual(fresh(b));
    await requestProjects(scene, c, ['project-1']);
    expect(await freshnessOf(scene)).toEqual(fresh(b));
  });

  test('projects are never_read while one of them was never requested', async () => {
    const scene = await stage();
    const at = ago(HOUR);
    await readCredits(scene, at, ['project-1']);
    await requestProjects(scene, at, ['project-1']);
    await readCredits(scene, at + MINUTE, ['project-1', 'project-2']);
    expect(await freshnessOf(scene)).toMatchObject({ state: 'never_read', reason: 'waiting', as_of: null });
    await requestProjects(scene, at + 2 * MINUTE, [], { fails: true });
    expect(await freshnessOf(scene)).toMatchObject({
      state: 'never_read',
      reason: 'read_failed',
      as_of: null,
    });
  });

  test('if no row references a project, projects are as fresh as the lists that could', async () => {
    const scene = await stage();
    const [a, b] = [ago(3 * HOUR), ago(HOUR)];
    expect(await freshnessOf(scene)).toMatchObject({ state: 'never_read', reason: 'waiting' });
    await readCredits(scene, a, []);
    scene.clock.at = b;
    await scene.read('reservations', [], { startedAt: b });
    expect(await freshnessOf(scene)).toEqual(fresh(a));
  });

  test('projects are overdue after two days, and never stale because of a webhook or a missing worker', async () => {
    const scene = await stage();
    const { mirror } = scene;
    await mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1', scheduleSeconds: 600 });
    const [a, b] = [ago(49 * HOUR), ago(47 * HOUR)];
    await readCredits(scene, a, ['project-1']);
    await requestProjects(scene, a, ['project-1']);
    expect(await freshnessOf(scene)).toMatchObject({ state: 'stale', reason: 'overdue', as_of: instant(a) });
    await requestProjects(scene, b, ['project-1']);
    expect(await freshnessOf(scene)).toEqual(fresh(b));
    const seen = instant(ago(HOUR));
    await mirror.report({ at: seen, awaitedInstallations: [], unreadDeliveries: [] });
    expect(await scene.db.value("SELECT reason FROM freshness WHERE resource = 'warehouse'")).toBe(
      'worker_gone',
    );
    expect(await freshnessOf(scene)).toEqual(fresh(b));
    const { waitingResources: announced } = await mirror.readFreshnessFacts();
    const known = await mirror.listKnownResources(['installation-1']);
    expect(announced).toEqual([]);
    expect(known.get('installation-1')?.map(({ resource }) => resource)).toEqual(['warehouse']);
  });

  test('a failed or interrupted walk makes projects stale once one is older than a day, until any organization requests it', async () => {
    const scene = await stage();
    const [a, b] = [ago(26 * HOUR), ago(25 * HOUR)];
    await installSecond(scene, a);
    await readCredits(scene, a, ['project-1', 'project-2']);
    await readCredits(scene, a, ['project-1'], 'organization-2');
    await requestProjects(scene, a, ['project-1', 'project-2']);
    const failing = { trigger: 'delivery', fails: true };
    await requestProjects(scene, a + HOUR / 2, [], failing);
    await scene.db.change('UPDATE project_states SET checked_at = ?', instant(ago(HOUR)));
    expect(await freshnessOf(scene)).toMatchObject({ state: 'fresh', error: FAULT.message });
    await scene.db.change('UPDATE project_states SET checked_at = ?', instant(a));
    await requestProjects(scene, b, [], failing);
    expect(await freshnessOf(scene)).toMatchObject({
      state: 'stale',
      reason: 'read_failed',
      as_of: instant(a),
    });
    await requestProjects(scene, b, ['project-2'], failing);
    expect(await freshnessOf(scene)).toMatchObject({ state: 'stale', reason: 'read_interrupted' });
    const c = ago(23 * HOUR);
    await requestProjects(scene, c, ['project-1'], SECOND);
    await requestProjects(scene, ago(22 * HOUR), ['project-2'], SECOND);
    expect(await freshnessOf(scene)).toEqual(fresh(c, FAULT.message));
  });

  test('a project is due if it was never requested, or only by a clock that was ahead', async () => {
    const scene = await stage();
    const now = ago(0);
    await readCredits(scene, now, ['project-1', 'project-2', 'project-3']);
    await requestProjects(scene, now + HOUR, ['project-1']);
    await requestProjects(scene, now, ['project-2'], { claim: 2 });
    const walk = await scene.mirror.beginProjects({ ...FIRST, claim: 2, startedAt: now });
    expect(await walk.listDue(now - HOUR)).toEqual(['project-1', 'project-3']);
  });
});
