import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClaimRef } from '../../src/inbox/job.js';
import { createLeaseKeeper, type LeaseKeeperOptions } from '../../src/sync/worker/leases.js';

const LEASE_MS = 60_000;
const waitForRenewals = (count: number) => vi.advanceTimersByTimeAsync((count * LEASE_MS) / 3);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function startLeaseKeeper(renewClaims: LeaseKeeperOptions['renewClaims']) {
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

test('all leases are renewed together, and a lease whose claim belongs to another worker is lost', async () => {
  const batches: (readonly ClaimRef[])[] = [];
  const { leases, lost } = startLeaseKeeper(async claims => {
    batches.push(claims);
    return batches.length === 2 ? [2] : [];
  });
  leases.add({ id: 1, claim: 1 }, 0);
  leases.add({ id: 2, claim: 2 }, 0);
  await waitForRenewals(5);
  expect(batches).toHaveLength(5);
  expect(lost).toEqual([2]);
  expect(batches[0]?.map(({ id }) => id)).toEqual([1, 2]);
  expect(batches.at(-1)?.map(({ id }) => id)).toEqual([1]);
});

test('a lease whose renewals fail expires one lease period after its last renewal', async () => {
  let isBroken = false;
  const { leases, lost, failures } = startLeaseKeeper(async () => {
    if (isBroken) throw new Error('locked');
    return [];
  });
  leases.add({ id: 1, claim: 1 }, 0);
  await waitForRenewals(5);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(LEASE_MS - 1);
  expect([lost, failures.length]).toEqual([[], 2]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lost).toEqual([1]);
});

test('a lease expires by its own age if it began before it was added', async () => {
  const { leases, lost } = startLeaseKeeper(() => Promise.reject(new Error('locked')));
  leases.add({ id: 1, claim: 1 }, 0);
  leases.add({ id: 2, claim: 2 }, LEASE_MS - 10);
  await vi.advanceTimersByTimeAsync(10);
  expect(lost).toEqual([2]);
  await vi.advanceTimersByTimeAsync(LEASE_MS - 11);
  expect(lost).toEqual([2]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lost).toEqual([2, 1]);
});

test('an unanswered renewal is not repeated, and the leases expire', async () => {
  let requests = 0;
  const { leases, lost } = startLeaseKeeper(() => {
    requests += 1;
    return new Promise(() => undefined);
  });
  leases.add({ id: 1, claim: 1 }, 0);
  await waitForRenewals(3);
  expect(lost).toEqual([1]);
  leases.add({ id: 1, claim: 2 }, 0);
  await waitForRenewals(3);
  expect(lost).toEqual([1, 1]);
  expect(requests).toBe(1);
});

test('a removed lease is neither renewed nor lost', async () => {
  const batches: (readonly ClaimRef[])[] = [];
  const { leases, lost } = startLeaseKeeper(async claims => {
    batches.push(claims);
    return [];
  });
  leases.add({ id: 1, claim: 1 }, 0);
  leases.add({ id: 2, claim: 2 }, LEASE_MS * 2);
  leases.remove(1);
  await waitForRenewals(3);
  expect(lost).toEqual([2]);
  expect(batches.flat().filter(({ id }) => id === 1)).toEqual([]);
});
