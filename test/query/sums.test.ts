import { expect, test } from 'vitest';
import {
  BY_OWNER,
  BY_PROJECT,
  groupByOwner,
  toExactSum,
  organizationIdsOf,
  selectOwnersByFreshness,
  sumWarehouses,
} from '../../src/query/sums.js';
import { breakReads, openFilledMirror } from '../support/mirror/open.js';
import { amount, credit } from '../support/mirror/rows.js';

test('tonnes and millionths are summed exactly to the millionth', () => {
  expect(toExactSum({ tonnes: 9_007_199_254_740_993n, rest: 1_999_999 })).toEqual({
    amount_micro: 9_007_199_254_740_994_999_999n,
  });
  expect(toExactSum({ tonnes: null, rest: null })).toEqual({ amount_micro: 0n });
});

test('fresh warehouses, or all others, are summed by owner or by project', async () => {
  const mirror = await openFilledMirror({ organizations: 3 });
  const { reader, read } = mirror;
  await breakReads(mirror, 'organization-3');
  const items = [credit('c-a', { vintage: '2020' }), credit('c-b', { amount: amount('0.000001') })];
  await read('warehouse', items, { organizationId: 'organization-2', findGone: async ids => ids });
  const fresh = await sumWarehouses(reader, selectOwnersByFreshness('fresh'), BY_OWNER);
  expect(fresh.map(each => [each.organization_id, each.amount_micro, each.rows])).toEqual([
    ['organization-1', 100_000_000n, 1],
    ['organization-2', 100_000_001n, 2],
  ]);
  const others = await sumWarehouses(reader, selectOwnersByFreshness('not fresh'), BY_OWNER);
  expect(others.map(each => [each.organization_id, each.amount_micro])).toEqual([
    ['organization-3', 300_000_000n],
  ]);
  const own = await sumWarehouses(reader, selectOwnersByFreshness('fresh', 'organization-2'), BY_PROJECT);
  expect(own.map(each => [each.vintage, each.amount_micro])).toEqual([
    ['2020', 100_000_000n],
    ['2021', 1n],
  ]);
});

test('rows are grouped by their owner', () => {
  const rows = [
    { organization_id: 'a', n: 1 },
    { organization_id: null, n: 2 },
    { organization_id: 'a', n: 3 },
  ];
  const ofOwner = groupByOwner(rows);
  expect(ofOwner({ organization_id: 'a' }).map(({ n }) => n)).toEqual([1, 3]);
  expect(ofOwner({ organization_id: 'b' })).toEqual([]);
  expect(organizationIdsOf(rows)).toEqual(['a', 'a']);
});
