import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClaimRef } from '../../src/inbox/job.js';
import { createLeaseKeeper, type LeaseKeeperOptions } from '../../src/sync/worker/leases.js';

const LEASE_MS = 60_000;
const renewals = (count: number) => vi.advanceTimersByTimeAsync((count * LEASE_MS) / 3);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function scene(renewClaims: LeaseKeeperOptions['renewClaims']) {
  const lost: number[] = [];
  const failures: unknown[] = [];
  const leases = createLeaseKeeper({
    renewClaims,
    leaseMs: LEASE_MS,
    onLost: jobId => lost.push(jobId),
    onRenewalFailed: error => failures.push(error),
  });
  leases.start();
  return { leases, lost, failures };
}

test('all leases are renewed together, and one that is another’s is lost', async () => {
  const batches: (readonly ClaimRef[])[] = [];
  const { leases, lost } = scene(async held => {
    batches.push(held);
    return batches.length === 2 ? [2] : [];
  });
  leases.add({ id: 1, claim: 1 }, 0);
  leases.add({ id: 2, claim: 2 }, 0);
  await renewals(5);
  expect(batches).toHaveLength(5);
  expect(lost).toEqual([2]);
  expect(batches[0]?.map(({ id }) => id)).toEqual([1, 2]);
  expect(batches.at(-1)?.map(({ id }) => id)).toEqual([1]);
});

test('one whose renewals fail is lost once its last good one is a lease old, and no sooner', async () => {
  let isBroken = false;
  const { leases, lost, failures } = scene(async () => {
    if (isBroken) throw new Error('locked');
    return [];
  });
  leases.add({ id: 1, claim: 1 }, 0);
  await renewals(5);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(LEASE_MS - 1);
  expect([lost, failures.length]).toEqual([[], 2]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lost).toEqual([1]);
});

test('a lease that may have begun before it was known is lost by its own age', async () => {
  const { leases, lost } = scene(() => Promise.reject(new Error('locked')));
  leases.add({ id: 1, claim: 1 }, 0);
  leases.add({ id: 2, claim: 2 }, LEASE_MS - 10);
  await vi.advanceTimersByTimeAsync(10);
  expect(lost).toEqual([2]);
  await vi.advanceTimersByTimeAsync(LEASE_MS - 11);
  expect(lost).toEqual([2]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lost).toEqual([2, 1]);
});

test('a renewal that is never answered is not asked for twice, and the lease ends all the same', async () => {
  let asked = 0;
  const { leases, lost } = scene(() => {
    asked += 1;
    return new Promise(() => undefined);
  });
  leases.add({ id: 1, claim: 1 }, 0);
  await renewals(3);
  expect(lost).toEqual([1]);
  leases.add({ id: 1, claim: 2 }, 0);
  await renewals(3);
  expect(lost).toEqual([1, 1]);
  expect(asked).toBe(1);
});

test('what is dropped is neither renewed nor lost', async () => {
  const batches: (readonly ClaimRef[])[] = [];
  const { leases, lost } = scene(async held => {
    batches.push(held);
    return [];
  });
  leases.add({ id: 1, claim: 1 }, 0);
  leases.add({ id: 2, claim: 2 }, LEASE_MS * 2);
  leases.remove(1);
  await renewals(3);
  expect(lost).toEqual([2]);
  expect(batches.flat().filter(({ id }) => id === 1)).toEqual([]);
});
