import { expect, test } from 'vitest';
import {
  readAvailability,
  readAvailable,
  readWarehouseCounts,
  wasEverHeld,
} from '../../src/query/available.js';
import { breakReads, openFilledMirror, writeInstallation } from '../support/mirror/open.js';
import { amount, credit } from '../support/mirror/rows.js';

const ALL = { organizationId: null };

test('the credits of every fresh warehouse are available', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const { known, uninstalled, warehouses, excluded, rows } = await readAvailable(reader, ALL);
  expect({ known, uninstalled, excluded }).toEqual({ known: 2, uninstalled: 0, excluded: [] });
  expect(warehouses.map(each => [each.organization_name, each.rows])).toEqual([
    ['Organization 1', 1],
    ['Organization 2', 2],
  ]);
  expect(rows.map(row => [row.credit_id, Number(row.amount_micro)])).toEqual([
    ['c-1-0', 100_000_000],
    ['c-2-0', 100_000_000],
    ['c-2-1', 100_000_000],
  ]);
  const one = await readAvailable(reader, { organizationId: 'organization-2' });
  expect([one.known, one.rows.length]).toEqual([1, 2]);
});

test('a warehouse that is not fresh is left out, and its last known amounts are stated', async () => {
  const mirror = await openFilledMirror({ organizations: 2 });
  await breakReads(mirror, 'organization-2');
  const { rows, excluded, warehouses } = await readAvailable(mirror.reader, ALL);
  expect([rows.length, warehouses.length]).toEqual([1, 1]);
  expect(excluded).toMatchObject([
    {
      organization_id: 'organization-2',
      state: 'stale',
      reason: 'read_failed',
      error: 'answered 503',
      rows: 2,
      amounts: [{ type: 'exPost', amount: 200, rowsWithoutAmount: 0 }],
    },
  ]);
});

test('a filter applies to the available rows and to those left out', async () => {
  const mirror = await openFilledMirror({ organizations: 2 });
  const { read, reader } = mirror;
  const items = [credit('c-a'), credit('c-b', { vintage: '2019', amount: amount('7') })];
  await read('warehouse', items, { organizationId: 'organization-2' });
  const where = [{ column: 'vintage', is: '2019' }];
  expect((await readAvailable(reader, { ...ALL, where })).rows.map(row => row.credit_id)).toEqual(['c-b']);
  await breakReads(mirror, 'organization-2');
  const { rows, excluded } = await readAvailable(reader, { ...ALL, where });
  expect(rows).toEqual([]);
  expect(excluded).toMatchObject([{ rows: 1, amounts: [{ amount: 7 }] }]);
});

test('an uninstalled organization is counted separately, and is left out if its rows are kept', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  await writeInstallation(filled, 2, { state: 'uninstalled', claim: 2 });
  const { known, uninstalled, excluded } = await readAvailable(filled.reader, ALL);
  expect({ known, uninstalled }).toEqual({ known: 1, uninstalled: 1 });
  expect(excluded).toMatchObject([
    { organization_id: 'organization-2', state: 'no_access', reason: 'uninstalled' },
  ]);
});

test('an empty warehouse is left out if it may be read, but not if the app has no access to it', async () => {
  const { mirror, clock, reader, read } = await openFilledMirror({ organizations: 1 });
  const write = async (n: number, state: 'active' | 'suspended') =>
    await writeInstallation({ mirror, clock }, n, { state, claim: state === 'active' ? 1 : 2 });
  for (const n of [2, 3, 4]) await write(n, 'active');
  for (const organizationId of ['organization-2', 'organization-3'])
    await read('warehouse', [], { organizationId });
  await write(2, 'suspended');
  const { excluded, warehouses, known } = await readAvailable(reader, ALL);
  expect(warehouses.map(each => [each.organization_id, each.rows])).toEqual([
    ['organization-3', 0],
    ['organization-1', 1],
  ]);
  expect(excluded).toMatchObject([{ organization_id: 'organization-4', state: 'never_read', rows: 0 }]);
  expect(known).toBe(4);
  const { unavailable, ...counts } = await readWarehouseCounts(reader, Infinity);
  expect(counts).toMatchObject({ known: 4, uninstalled: 0, available: 2 });
  expect([unavailable.count, unavailable.readCount, unavailable.worst.length]).toEqual([1, 0, 1]);
});

test('organizations are counted by availability, and the worst of those left out comes first', async () => {
  const mirror = await openFilledMirror({ organizations: 3 });
  await breakReads(mirror, 'organization-2');
  await mirror.db.change(
    "UPDATE resource_states SET as_of = NULL WHERE organization_id = 'organization-3' AND resource = 'warehouse'",
  );
  const { unavailable: excluded, ...sums } = await readWarehouseCounts(mirror.reader, 1);
  expect(sums).toMatchObject({ known: 3, uninstalled: 0, available: 1 });
  expect(sums.freshness).toMatchObject([{ state: 'fresh', failing_since: null, resources: 1 }]);
  expect([excluded.count, excluded.readCount]).toEqual([2, 1]);
  expect(excluded.worst.map(each => each.organization_id)).toEqual(['organization-2']);
});

test('availability is grouped by project and vintage, for all projects or for one', async () => {
  const mirror = await openFilledMirror({ organizations: 2 });
  const all = await readAvailability(mirror.reader, {});
  expect(all.rows).toMatchObject([
    {
      project_id: 'project-1',
      project_name: 'Peat bog',
      vintage: '2021',
      type: 'exPost',
      rows: 3,
      amount_micro: 300_000_000n,
    },
  ]);
  const whole = { counted: 2, known: 2, missing: 0 };
  expect(all).toMatchObject({ coverage: whole, caveats: [], totals: { rows: 3 }, unavailable: [] });
  expect((await readAvailability(mirror.reader, { projectId: 'project-2' })).rows).toEqual([]);
  await breakReads(mirror, 'organization-1');
  const { rows, unavailable, coverage, caveats } = await readAvailability(mirror.reader, {
    projectId: 'project-1',
  });
  expect(coverage).toEqual({ counted: 1, known: 2, missing: 1 });
  expect(caveats).toEqual([{ code: 'left_out', organizations: 1 }]);
  expect(await readAvailability(mirror.reader, { organizationId: 'organization-1' })).toMatchObject({
    rows: [],
    coverage: null,
    caveats: [{ code: 'left_out', organizations: 1 }],
  });
  expect(rows).toMatchObject([{ rows: 2 }]);
  expect(unavailable).toMatchObject([
    { organization_id: 'organization-1', reason: 'read_failed', sums: [{ amount_micro: 100_000_000n }] },
  ]);
});

test('wasEverHeld finds a credit that was sold since', async () => {
  const { read, clock, reader } = await openFilledMirror({ organizations: 1 });
  clock.at += 1;
  await read('warehouse', [credit('c-new', { vintage: '2023' })], { findGone: async ids => ids });
  clock.at += 1;
  await read('warehouse', [credit('c-1-0')], { findGone: async ids => ids });
  expect(await wasEverHeld(reader, { column: 'vintage', is: '2023' })).toBe(true);
  expect(await wasEverHeld(reader, { column: 'vintage', is: '1999' })).toBe(false);
});
