import { describe, expect, test } from 'vitest';
import {
  parseScope,
  type PlanInput,
  planReads,
  type PreviousRead,
  RESOURCES,
  serializeScope,
} from '../../src/sync/plan.js';

const ALL = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};
const HOUR_MS = 3_600_000;
const situation: PlanInput = {
  organizationId: 'organization-1',
  scope: { resources: null, full: false },
  trigger: 'schedule',
  permissions: ALL,
  permissionsChanged: false,
  mirrorMembers: true,
  now: 100 * HOUR_MS,
  previousReads: new Map(),
  reaccepted: new Set(),
  announced: new Set(),
};

const MINUTE_MS = 60_000;

const allReadAs = (previous: PreviousRead): PlanInput['previousReads'] =>
  new Map(RESOURCES.map(resource => [resource, previous]));

interface Declined extends Partial<PreviousRead> {
  readonly minutesAgo: number;
}

/** Whether members are asked for, so long after they were declined. */
function asksFor({ minutesAgo, ...before }: Declined, now: Partial<PlanInput> = {}): boolean {
  const attemptedAt = situation.now - minutesAgo * MINUTE_MS;
  const previous: PreviousRead = {
    declined: 'refused',
    refusals: 1,
    attemptedAt,
    dataAsOf: null,
    durationMs: 0,
    everyMs: null,
    ...before,
  };
  return planReads({
    ...situation,
    previousReads: new Map([['members', previous]]),
    ...now,
  }).read.includes('members');
}

describe('what a sync of an installation reads', () => {
  test('everything it permits, the warehouse first', () => {
    expect(planReads(situation)).toEqual({ read: RESOURCES, unpermitted: [] });
    expect(RESOURCES[0]).toBe('warehouse');
  });

  test('T39 a missing permission leaves its resources out, without a call', () => {
    const { read, unpermitted } = planReads({ ...situation, permissions: { organization_info: 'VIEW' } });
    expect(unpermitted).toEqual(['warehouse', 'reservations', 'inventory', 'inventory_requests', 'members']);
    expect(read).toEqual(['organization', 'addresses', 'retirements', 'projects']);
  });

  test('what is not said is no missing permission: everything is asked for', () => {
    expect(planReads({ ...situation, permissions: null })).toEqual({ read: RESOURCES, unpermitted: [] });
  });

  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [5, 16],
    [11, 1024],
    [12, 1440],
    [40, 1440],
    [5000, 1440],
  ])('T39 the refusal number %i in a row is believed for %i minutes', (refusals, minutes) => {
    for (const trigger of ['schedule', 'worker']) {
      expect(asksFor({ refusals, minutesAgo: minutes - 0.1 }, { trigger })).toBe(false);
      expect(asksFor({ refusals, minutesAgo: minutes }, { trigger })).toBe(true);
    }
  });

  test('T39 a delivery asks again for what was refused, a minute apart', () => {
    expect(asksFor({ refusals: 9, minutesAgo: 0.9 }, { trigger: 'delivery' })).toBe(false);
    expect(asksFor({ refusals: 9, minutesAgo: 1 }, { trigger: 'delivery' })).toBe(true);
  });

  test('T39 a person asks at once, and so does whoever sees that permissions changed or were accepted', () => {
    const before = { refusals: 9, minutesAgo: 0 };
    expect(asksFor(before, { trigger: 'person' })).toBe(true);
    expect(asksFor(before, { permissionsChanged: true })).toBe(true);
    expect(asksFor(before, { reaccepted: new Set(['members']) })).toBe(true);
    expect(asksFor(before, { scope: { resources: ['members'], full: false }, trigger: 'worker' })).toBe(
      false,
    );
  });

  test('T39 a refusal in the future is none', () => {
    expect(asksFor({ refusals: 9, minutesAgo: -1 })).toBe(true);
  });

  test('what was never offered is looked at daily, and at once by a person', () => {
    const before = { declined: 'not_offered' as const, refusals: 2 };
    for (const trigger of ['schedule', 'delivery', 'worker']) {
      expect(asksFor({ ...before, minutesAgo: 1439 }, { trigger })).toBe(false);
      expect(asksFor({ ...before, minutesAgo: 1440 }, { trigger })).toBe(true);
    }
    expect(asksFor({ ...before, minutesAgo: 0 }, { trigger: 'person' })).toBe(true);
  });

  test('what was never offered is read again by a job of its own, where a look at it broke', () => {
    const before = { declined: 'not_offered' as const, refusals: 2, minutesAgo: 0 };
    const wish = { resources: ['members' as const], full: false };
    expect(asksFor(before, { scope: wish, trigger: 'worker' })).toBe(true);
  });

  test('what was offered once and is no more is asked for as what is refused', () => {
    const before = { declined: 'not_offered' as const, refusals: 3, dataAsOf: 0 };
    expect(asksFor({ ...before, minutesAgo: 3 })).toBe(false);
    expect(asksFor({ ...before, minutesAgo: 4 })).toBe(true);
    expect(asksFor({ ...before, minutesAgo: 1 }, { trigger: 'delivery' })).toBe(true);
  });

  test('members stay out where the mirror shall not hold them', () => {
    const { read, unpermitted } = planReads({ ...situation, mirrorMembers: false, permissions: {} });
    expect([...read, ...unpermitted]).not.toContain('members');
  });

  test('the schedule reads at most every ten times the last duration; a delivery always', () => {
    const dataAsOf = situation.now - HOUR_MS;
    const previousReads = allReadAs({
      declined: null,
      refusals: 0,
      attemptedAt: dataAsOf,
      dataAsOf,
      durationMs: HOUR_MS / 5,
      everyMs: null,
    });
    expect(planReads({ ...situation, previousReads }).read).toEqual([]);
    expect(planReads({ ...situation, trigger: 'delivery', previousReads }).read).toEqual(RESOURCES);
    expect(planReads({ ...situation, scope: { resources: null, full: true }, previousReads }).read).toEqual(
      RESOURCES,
    );
  });

  test('what is read once a day has its turn in the second half of one, other for each organization', () => {
    const turns = Array.from({ length: 200 }, (_, index) => {
      const isRead = (hours: number) => {
        const dataAsOf = situation.now - hours * HOUR_MS;
        const read = { declined: null, refusals: 0, durationMs: 0, attemptedAt: dataAsOf, dataAsOf };
        const previousReads = allReadAs({ ...read, everyMs: 24 * HOUR_MS });
        return (
          planReads({ ...situation, organizationId: `organization ${index}`, previousReads }).read.length > 0
        );
      };
      return Array.from({ length: 26 }, (_each, hours) => hours).find(isRead) ?? Infinity;
    });
    expect(Math.min(...turns)).toBeGreaterThanOrEqual(12);
    expect(Math.max(...turns)).toBe(24);
    expect(new Set(turns).size).toBeGreaterThan(6);
  });

  test('what is read once a day is read at once by a delivery, a person and in full, and after a try that failed', () => {
    const dataAsOf = situation.now - HOUR_MS;
    const read = { declined: null, refusals: 0, durationMs: 0, dataAsOf, everyMs: 24 * HOUR_MS };
    const previousReads = allReadAs({ ...read, attemptedAt: dataAsOf });
    expect(planReads({ ...situation, previousReads }).read).toEqual([]);
    for (const trigger of ['delivery', 'person', 'worker'])
      expect(planReads({ ...situation, trigger, previousReads }).read).toEqual(RESOURCES);
    expect(planReads({ ...situation, scope: { resources: null, full: true }, previousReads }).read).toEqual(
      RESOURCES,
    );
    expect(planReads({ ...situation, previousReads, announced: new Set(['members']) }).read).toEqual([
      'members',
    ]);
    const failed = allReadAs({ ...read, attemptedAt: dataAsOf + 1 });
    expect(planReads({ ...situation, previousReads: failed }).read).toEqual(RESOURCES);
  });

  test('what is dated in the future is due: the clock was put right since', () => {
    const tomorrow = situation.now + 24 * HOUR_MS;
    const times = { attemptedAt: tomorrow, dataAsOf: tomorrow, durationMs: 1000, everyMs: null };
    for (const declined of [null, 'refused'] as const) {
      const previousReads = allReadAs({ declined, refusals: declined === null ? 0 : 9, ...times });
      expect(planReads({ ...situation, previousReads }).read).toEqual(RESOURCES);
    }
  });

  test('a wish survives being stored, and two merged wishes add up', () => {
    const one = { resources: ['warehouse' as const], full: false };
    const other = { resources: ['retirements' as const], full: true };
    expect(parseScope(serializeScope(one))).toEqual(one);
    const first = serializeScope(one);
    const second = serializeScope(other);
    const merged = {
      ...first,
      ...second,
      resources: { ...Object(first['resources']), ...Object(second['resources']) },
    };
    expect(parseScope(merged)).toEqual({ resources: ['warehouse', 'retirements'], full: true });
    expect(parseScope({})).toEqual({ resources: null, full: false });
    expect(parseScope({ resources: { unheard_of: true } })).toEqual({ resources: [], full: false });
  });
});
