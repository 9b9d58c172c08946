import { expect, test } from 'vitest';
import { readOverview, readSums } from '../../src/query/overview.js';
import { breakReads, openFilledMirror, writeInstallation } from '../support/mirror/open.js';
import { amount } from '../support/mirror/rows.js';
import { reservation } from '../support/reservation.js';

test('sums cover all organizations, and the list shows as many of them as requested', async () => {
  const mirror = await openFilledMirror({ organizations: 3 });
  await breakReads(mirror, 'organization-1');
  const sums = await readSums(mirror.reader, 2, 1);
  expect(sums.organizations.map(({ organization_id: id }) => id)).toEqual([
    'organization-1',
    'organization-3',
  ]);
  expect(sums.unavailable.count).toBe(1);
  expect(sums.failing).toBe(10);
  expect(sums.unavailable.sums).toMatchObject([{ type: 'exPost', rows: 1, amount_micro: 100_000_000n }]);
  expect(sums.available).toMatchObject({
    rows: [{ project_id: 'project-1', rows: 5, amount_micro: 500_000_000n }],
    totals: { rows: 5, amounts: [{ type: 'exPost', amountMicro: 500_000_000n }] },
    coverage: { counted: 2, known: 3, missing: 1 },
    freshness: [{ state: 'fresh', failing_since: null, resources: 2 }],
    caveats: [{ code: 'left_out', organizations: 1 }],
  });
  expect(sums.availableByOwner).toMatchObject([
    { organization_id: 'organization-3', amount_micro: 300_000_000n },
  ]);
});

test.each(['uninstalled', 'suspended'] as const)(
  'no list of an organization that is %s fails',
  async state => {
    const mirror = await openFilledMirror({ organizations: 2 });
    for (const id of ['organization-1', 'organization-2']) await breakReads(mirror, id);
    await writeInstallation(mirror, 1, { state, claim: 2 });
    expect((await readSums(mirror.reader, 2, 1)).failing).toBe(10);
  },
);

test('nothing is reported as left out if every warehouse is available', async () => {
  const { reader } = await openFilledMirror({ organizations: 1 });
  expect(await readSums(reader, 8, 8)).toMatchObject({
    unavailable: { count: 0, sums: [] },
    available: { caveats: [] },
    failing: 0,
    certificates: {},
  });
});

test('the overview shows reserved amounts with their earliest expiry, and the newest changes first', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 1 });
  const soon = (minutes: number) => new Date(clock.at + minutes * 60_000).toISOString();
  const held = [
    reservation('h-1', { amount: amount('2'), reservedToDate: soon(20) }),
    reservation('h-2', { amount: amount('3'), reservedToDate: soon(10) }),
    reservation('h-3', { amount: amount('5'), state: 'finished', isComplete: true, reservedToDate: soon(5) }),
  ];
  await read('reservations', held);
  const overview = await readOverview(reader, clock.at, snapshot => readSums(snapshot, 8, 8));
  expect(overview.reserved).toMatchObject([
    { type: 'exPost', rows: 2, amount_micro: 5_000_000n, first_ends_at: soon(10) },
  ]);
  const numbers = overview.changes.map(({ number }) => number);
  expect(numbers).toEqual(numbers.toSorted((one, other) => other - one));
  expect(overview.changes.slice(0, 3).map(({ resource }) => resource)).toEqual(Array(3).fill('reservations'));
  expect(overview.organizations).toHaveLength(1);
});
