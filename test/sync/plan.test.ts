import { describe, expect, test } from 'vitest';
import { plan, readWish, RESOURCES, type Situation, writeWish } from '../../src/sync/plan.js';

const ALL = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};
const HOUR_MS = 3_600_000;
const situation: Situation = {
  wish: { resources: null, full: false },
  scheduled: false,
  permissions: ALL,
  permissionsChanged: false,
  mirrorMembers: true,
  now: 100 * HOUR_MS,
  last: () => null,
};

function asksForMembers(hoursAfterRefusal: number, permissionsChanged: boolean): boolean {
  const endedAt = situation.now - hoursAfterRefusal * HOUR_MS;
  const refused = { refused: true, attemptedAt: endedAt, completeAt: null, durationMs: 0 };
  const last = (resource: string) => (resource === 'members' ? refused : null);
  return plan({ ...situation, permissionsChanged, last }).read.includes('members');
}

describe('what a look at an installation reads', () => {
  test('everything it permits, the warehouse first', () => {
    expect(plan(situation)).toEqual({ read: RESOURCES, forbidden: [] });
    expect(RESOURCES[0]).toBe('warehouse');
  });

  test('T39 a missing permission makes its resources forbidden, without a call', () => {
    const { read, forbidden } = plan({ ...situation, permissions: { organization_info: 'VIEW' } });
    expect(forbidden).toEqual(['warehouse', 'reservations', 'inventory', 'inventory_requests', 'members']);
    expect(read).toEqual(['organization', 'addresses', 'retirements', 'projects']);
  });

  test('what is not said is no missing permission: everything is asked for', () => {
    expect(plan({ ...situation, permissions: null })).toEqual({ read: RESOURCES, forbidden: [] });
  });

  test('T39 what was refused in spite of its permission is tried again after a day, or when permissions change', () => {
    expect(asksForMembers(23, false)).toBe(false);
    expect(asksForMembers(24, false)).toBe(true);
    expect(asksForMembers(1, true)).toBe(true);
  });

  test('members stay out where the mirror shall not hold them', () => {
    const { read, forbidden } = plan({ ...situation, mirrorMembers: false, permissions: {} });
    expect([...read, ...forbidden]).not.toContain('members');
  });

  test('the schedule reads at most every ten times the last duration; a delivery always', () => {
    const completeAt = situation.now - HOUR_MS;
    const last = () => ({ refused: false, attemptedAt: completeAt, completeAt, durationMs: HOUR_MS / 5 });
    expect(plan({ ...situation, scheduled: true, last }).read).toEqual([]);
    expect(plan({ ...situation, scheduled: false, last }).read).toEqual(RESOURCES);
    expect(plan({ ...situation, scheduled: true, wish: { resources: null, full: true }, last }).read).toEqual(
      RESOURCES,
    );
  });

  test('a wish survives being stored, and two merged wishes add up', () => {
    const one = { resources: ['warehouse' as const], full: false };
    const other = { resources: ['retirements' as const], full: true };
    expect(readWish(writeWish(one))).toEqual(one);
    const first = writeWish(one);
    const second = writeWish(other);
    const merged = {
      ...first,
      ...second,
      resources: { ...Object(first['resources']), ...Object(second['resources']) },
    };
    expect(readWish(merged)).toEqual({ resources: ['warehouse', 'retirements'], full: true });
    expect(readWish({})).toEqual({ resources: null, full: false });
    expect(readWish({ resources: { unheard_of: true } })).toEqual({ resources: [], full: false });
  });
});
