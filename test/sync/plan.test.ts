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
const INPUT: PlanInput = {
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

const createPreviousReads = (previous: PreviousRead): PlanInput['previousReads'] =>
  new Map(RESOURCES.map(resource => [resource, previous]));

interface DeclinedRead extends Partial<PreviousRead> {
  readonly minutesAgo: number;
}

/** Whether the plan reads members, which were declined this many minutes ago. */
function requestsMembers(
  { minutesAgo, ...fields }: DeclinedRead,
  overrides: Partial<PlanInput> = {},
): boolean {
  const attemptedAt = INPUT.now - minutesAgo * MINUTE_MS;
  const previous: PreviousRead = {
    declined: 'refused',
    refusals: 1,
    attemptedAt,
    dataAsOf: null,
    durationMs: 0,
    everyMs: null,
    ...fields,
  };
  return planReads({
    ...INPUT,
    previousReads: new Map([['members', previous]]),
    ...overrides,
  }).read.includes('members');
}

describe('planReads', () => {
  test('a new installation has all permitted resources read, the warehouse first', () => {
    expect(planReads(INPUT)).toEqual({ read: RESOURCES, unpermitted: [] });
    expect(RESOURCES[0]).toBe('warehouse');
  });

  test('T39 a missing permission excludes its resources', () => {
    const { read, unpermitted } = planReads({ ...INPUT, permissions: { organization_info: 'VIEW' } });
    expect(unpermitted).toEqual(['warehouse', 'reservations', 'inventory', 'inventory_requests', 'members']);
    expect(read).toEqual(['organization', 'addresses', 'retirements', 'projects']);
  });

  test('unknown permissions exclude no resource', () => {
    expect(planReads({ ...INPUT, permissions: null })).toEqual({ read: RESOURCES, unpermitted: [] });
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
  ])('T39 after %i refusals in a row a resource is not requested for %i minutes', (refusals, minutes) => {
    for (const trigger of ['schedule', 'worker']) {
      expect(requestsMembers({ refusals, minutesAgo: minutes - 0.1 }, { trigger })).toBe(false);
      expect(requestsMembers({ refusals, minutesAgo: minutes }, { trigger })).toBe(true);
    }
  });

  test('T39 a delivery requests a refused resource again after a minute', () => {
    expect(requestsMembers({ refusals: 9, minutesAgo: 0.9 }, { trigger: 'delivery' })).toBe(false);
    expect(requestsMembers({ refusals: 9, minutesAgo: 1 }, { trigger: 'delivery' })).toBe(true);
  });

  test('T39 a refused resource is requested at once by a person and after permissions changed or were accepted', () => {
    const before = { refusals: 9, minutesAgo: 0 };
    expect(requestsMembers(before, { trigger: 'person' })).toBe(true);
    expect(requestsMembers(before, { permissionsChanged: true })).toBe(true);
    expect(requestsMembers(before, { reaccepted: new Set(['members']) })).toBe(true);
    expect(
      requestsMembers(before, { scope: { resources: ['members'], full: false }, trigger: 'worker' }),
    ).toBe(false);
  });

  test('T39 a refusal dated in the future is ignored', () => {
    expect(requestsMembers({ refusals: 9, minutesAgo: -1 })).toBe(true);
  });

  test('a resource that was never offered is requested daily, and at once by a person', () => {
    const before = { declined: 'not_offered' as const, refusals: 2 };
    for (const trigger of ['schedule', 'delivery', 'worker']) {
      expect(requestsMembers({ ...before, minutesAgo: 1439 }, { trigger })).toBe(false);
      expect(requestsMembers({ ...before, minutesAgo: 1440 }, { trigger })).toBe(true);
    }
    expect(requestsMembers({ ...before, minutesAgo: 0 }, { trigger: 'person' })).toBe(true);
  });

  test('a resource that was never offered is requested at once by a retry of its failed read', () => {
    const before = { declined: 'not_offered' as const, refusals: 2, minutesAgo: 0 };
    const scope = { resources: ['members' as const], full: false };
    expect(requestsMembers(before, { scope, trigger: 'worker' })).toBe(true);
  });

  test('a resource that is no longer offered is requested as often as a refused one', () => {
    const before = { declined: 'not_offered' as const, refusals: 3, dataAsOf: 0 };
    expect(requestsMembers({ ...before, minutesAgo: 3 })).toBe(false);
    expect(requestsMembers({ ...before, minutesAgo: 4 })).toBe(true);
    expect(requestsMembers({ ...before, minutesAgo: 1 }, { trigger: 'delivery' })).toBe(true);
  });

  test('members are not read if the mirror must not hold them', () => {
    const { read, unpermitted } = planReads({ ...INPUT, mirrorMembers: false, permissions: {} });
    expect([...read, ...unpermitted]).not.toContain('members');
  });

  test('the schedule waits ten times the duration of the last read; a delivery does not', () => {
    const dataAsOf = INPUT.now - HOUR_MS;
    const previousReads = createPreviousReads({
      declined: null,
      refusals: 0,
      attemptedAt: dataAsOf,
      dataAsOf,
      durationMs: HOUR_MS / 5,
      everyMs: null,
    });
    expect(planReads({ ...INPUT, previousReads }).read).toEqual([]);
    expect(planReads({ ...INPUT, trigger: 'delivery', previousReads }).read).toEqual(RESOURCES);
    expect(planReads({ ...INPUT, scope: { resources: null, full: true }, previousReads }).read).toEqual(
      RESOURCES,
    );
  });

  test('a daily resource is due in the second half of the day, at a different time for each organization', () => {
    const turns = Array.from({ length: 200 }, (_, index) => {
      const isRead = (hours: number) => {
        const dataAsOf = INPUT.now - hours * HOUR_MS;
        const read = { declined: null, refusals: 0, durationMs: 0, attemptedAt: dataAsOf, dataAsOf };
        const previousReads = createPreviousReads({ ...read, everyMs: 24 * HOUR_MS });
        return (
          planReads({ ...INPUT, organizationId: `organization ${index}`, previousReads }).read.length > 0
        );
      };
      return Array.from({ length: 26 }, (_each, hours) => hours).find(isRead) ?? Infinity;
    });
    expect(Math.min(...turns)).toBeGreaterThanOrEqual(12);
    expect(Math.max(...turns)).toBe(24);
    expect(new Set(turns).size).toBeGreaterThan(6);
  });

  test('a daily resource is due at once for a delivery, a person, a full sync and after a failed read', () => {
    const dataAsOf = INPUT.now - HOUR_MS;
    const read = { declined: null, refusals: 0, durationMs: 0, dataAsOf, everyMs: 24 * HOUR_MS };
    const previousReads = createPreviousReads({ ...read, attemptedAt: dataAsOf });
    expect(planReads({ ...INPUT, previousReads }).read).toEqual([]);
    for (const trigger of ['delivery', 'person', 'worker'])
      expect(planReads({ ...INPUT, trigger, previousReads }).read).toEqual(RESOURCES);
    expect(planReads({ ...INPUT, scope: { resources: null, full: true }, previousReads }).read).toEqual(
      RESOURCES,
    );
    expect(planReads({ ...INPUT, previousReads, announced: new Set(['members']) }).read).toEqual(['members']);
    const failed = createPreviousReads({ ...read, attemptedAt: dataAsOf + 1 });
    expect(planReads({ ...INPUT, previousReads: failed }).read).toEqual(RESOURCES);
  });

  test('a read dated in the future counts as due, because its clock was wrong', () => {
    const tomorrow = INPUT.now + 24 * HOUR_MS;
    const times = { attemptedAt: tomorrow, dataAsOf: tomorrow, durationMs: 1000, everyMs: null };
    for (const declined of [null, 'refused'] as const) {
      const previousReads = createPreviousReads({ declined, refusals: declined === null ? 0 : 9, ...times });
      expect(planReads({ ...INPUT, previousReads }).read).toEqual(RESOURCES);
    }
  });

  test('a scope survives serialization, and merging two payloads joins their scopes', () => {
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
