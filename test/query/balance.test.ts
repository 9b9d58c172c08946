import { expect, test } from 'vitest';
import {
  BALANCE_COLUMNS,
  type BalanceLine,
  collectBalance,
  describeVerdict,
  MAX_SUMS_SHOWN,
  readBalance,
  selectListedSums,
  toReadableSums,
} from '../../src/query/history/balance.js';
import { openFilledMirror, writeInstallation } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

const NO_AMOUNT = { exact: '0.33333333', value: 0.33333333, micro: null, fault: null };
const own = (id: string, tonnes: string, type = 'exPost') =>
  credit(id, { amount: amount(tonnes), type, vintage: '2021', serialization: `ICR-${id}-2021` });

/** Opens a mirror of one organization whose warehouse had 100 t at first, rose by 2 t and fell by 4 t, and that retired 2.5 t. */
async function openMovedMirror() {
  const filled = await openFilledMirror({ organizations: 0 });
  const { read, clock } = filled;
  for (const tonnes of ['100', '102', '98']) {
    await read('warehouse', [own('c-1', tonnes)]);
    clock.at += 1;
  }
  await read('inventory', []);
  await read('retirements', [retirement('r-1', { amount: amount('2.5') })], { limit: 10, total: 1 });
  return filled;
}

async function ask({ reader }: Filled, organizationId: string | null = null) {
  const answer = await readBalance(reader, organizationId);
  return { ...answer, ...(await collectBalance(answer)) };
}

const SUM = {
  kind: 'sum',
  organization_id: 'organization-1',
  organization_name: null,
  rows: 1,
  difference_micro: 0,
  balanced: true,
  why: null,
};
const NO_MOVES = { type: null, opening_at: null, opening_micro: null, risen_micro: null, fallen_micro: null };

test('the balance has a sum for each check, with what a warehouse held at first, and how it rose and fell', async () => {
  const filled = await openMovedMirror();
  const checks: string[] = [];
  const answer = await readBalance(filled.reader, null, identity => void checks.push(identity));
  const { sums, differences, balanced } = await collectBalance(answer);
  const retired = { ...SUM, ...NO_MOVES, found_micro: 2_500_000, expected_micro: 2_500_000 };
  expect(sums).toEqual([
    ...['by beneficiary', 'by certificate', 'by month'].map(what => ({
      ...retired,
      identity: 'retirements',
      what,
    })),
    {
      ...SUM,
      identity: 'credits',
      what: 'warehouse',
      type: 'exPost',
      opening_at: expect.any(String),
      opening_micro: 100_000_000,
      risen_micro: 2_000_000,
      fallen_micro: 4_000_000,
      found_micro: 98_000_000,
      expected_micro: 98_000_000n,
    },
  ]);
  expect([checks, differences, balanced]).toEqual([['retirements', 'credits'], [], true]);
  expect(answer.totals).toEqual({ rows: 4, hasMore: false, amounts: null, rowsWithoutAmount: 0 });
  expect(describeVerdict(sums)).toBe('All 4 checks passed.');
});

test('a file of the balance has a column for each value but the kind of a line', async () => {
  const { sums } = await ask(await openMovedMirror());
  for (const { kind: _, ...values } of sums)
    expect(Object.keys(values).toSorted()).toEqual(BALANCE_COLUMNS.toSorted());
});

test('a credit, month or beneficiary that does not balance is a row of its own, with the reason', async () => {
  const filled = await openMovedMirror();
  const items = [
    retirement('r-1', { amount: amount('2.5') }),
    retirement('r-2', { amount: amount('4'), beneficiary: null, createdAt: '2026-04-01T00:00:00.000Z' }),
  ];
  await filled.read('retirements', items, { limit: 10, total: 2 });
  await filled.tables.change('UPDATE warehouse_credits SET amount_micro = amount_micro + 1');
  await filled.tables.change('UPDATE retirements SET amount_micro = amount_micro + 7');
  const { sums, differences, balanced, totals } = await ask(filled);
  const counted = (micro: number) => ({
    code: 'counted_differently',
    listed_rows: 1,
    listed_micro: micro + 7,
    counted_rows: 1,
    counted_micro: micro,
  });
  const [first, second] = [counted(2_500_000), counted(4_000_000)];
  const moved = {
    code: 'moved_differently',
    opening_micro: 100_000_000,
    risen_micro: 2_000_000,
    fallen_micro: 3_999_999,
    listed_micro: 98_000_000,
  };
  expect(differences.map(({ what, why, difference_micro: micro }) => [what, why, micro])).toEqual([
    ['beneficiary of none', second, 7],
    ['beneficiary Harbour Ferries', first, 7],
    ['month 2026-03', first, 7],
    ['month 2026-04', second, 7],
    ['warehouse c-1', moved, -1],
  ]);
  expect(differences.every(line => line.kind === 'difference' && !line.balanced)).toBe(true);
  expect(sums.map(line => [line.what, line.rows, line.difference_micro, line.balanced, line.why])).toEqual([
    ['by beneficiary', 2, 14n, false, null],
    ['by certificate', 2, 0, true, null],
    ['by month', 2, 14n, false, null],
    ['warehouse', 1, -1, false, null],
  ]);
  expect([balanced, totals?.rows]).toEqual([false, 9]);
  expect(describeVerdict(sums)).toBe('3 of 4 checks failed.');
});

test('two errors that cancel each other out are two differences in a sum without one', async () => {
  const filled = await openFilledMirror({ organizations: 0 });
  await filled.read('warehouse', [own('c-1', '98'), own('c-2', '98'), own('c-3', '98')]);
  for (const [id, micro] of [
    ['c-2', 1],
    ['c-3', -1],
  ] as const)
    await filled.tables.change(
      `UPDATE warehouse_credits SET amount_micro = amount_micro + ${micro} WHERE credit_id = '${id}'`,
    );
  const { sums, differences } = await ask(filled);
  expect(sums.filter(({ identity }) => identity === 'credits')).toMatchObject([
    {
      rows: 3,
      found_micro: 294_000_000n,
      expected_micro: 294_000_000n,
      difference_micro: 0n,
      balanced: false,
    },
  ]);
  expect(differences).toMatchObject([
    { what: 'warehouse c-2', difference_micro: -1 },
    { what: 'warehouse c-3', difference_micro: 1 },
  ]);
});

test('T85 ex-ante and ex-post credits are summed separately', async () => {
  const filled = await openFilledMirror({ organizations: 0 });
  await filled.read('warehouse', [own('c-1', '98'), own('c-3', '40', 'exAnte')]);
  filled.clock.at += 1;
  await filled.read('warehouse', [own('c-1', '98'), own('c-3', '30', 'exAnte')]);
  const { sums } = await ask(filled);
  expect(sums.filter(({ identity }) => identity === 'credits')).toMatchObject([
    { what: 'warehouse', type: 'exPost', found_micro: 98_000_000 },
    { what: 'warehouse', type: 'exAnte', found_micro: 30_000_000, fallen_micro: 10_000_000 },
  ]);
});

test('the balance states how many organizations it covers, and how many of them removed the app', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const { read } = filled;
  await read('inventory', []);
  expect(await ask(filled)).toMatchObject({ coverage: { counted: 1, known: 2, missing: 1 }, caveats: [] });
  await read('inventory', [], { organizationId: 'organization-2' });
  await writeInstallation(filled, 2, { state: 'uninstalled', claim: 2 });
  expect(await ask(filled)).toMatchObject({
    coverage: { counted: 1, known: 1, missing: 0 },
    caveats: [{ code: 'uninstalled_included', organizations: 1 }],
  });
  expect(await ask(filled, 'organization-1')).toMatchObject({ caveats: [] });
  const other = await ask(filled, 'organization-2');
  expect(other).toMatchObject({
    coverage: { counted: 0, known: 0, missing: 0 },
    caveats: [{ code: 'uninstalled_included', organizations: 1 }],
  });
  expect(new Set(other.sums.map(line => line.organization_name))).toEqual(new Set(['Organization 2']));
});

test('rows without a usable amount are in no sum, and a caveat counts them', async () => {
  const filled = await openMovedMirror();
  await filled.read('warehouse', [own('c-1', '98'), credit('c-2', { amount: NO_AMOUNT })]);
  const items = [retirement('r-1', { amount: amount('2.5') }), retirement('r-2', { amount: NO_AMOUNT })];
  await filled.read('retirements', items, { limit: 10, total: 2 });
  const { totals, caveats, balanced } = await ask(filled);
  expect([totals?.rowsWithoutAmount, caveats, balanced]).toEqual([
    2,
    [{ code: 'without_amount', rows: 2 }],
    true,
  ]);
  expect((await ask(filled, 'organization-2')).caveats).toEqual([]);
});

test('a mirror without rows has no verdict', async () => {
  const filled = await openFilledMirror({ organizations: 0 });
  expect(await ask(filled)).toMatchObject({ sums: [], differences: [], balanced: null });
});

/** Creates the sum of the warehouse of one organization. */
const sumOf = (n: number, values: Partial<BalanceLine> = {}): BalanceLine => ({
  kind: 'sum',
  identity: 'credits',
  what: 'warehouse',
  type: 'exPost',
  organization_id: `organization-${n}`,
  organization_name: `Organization ${n}`,
  rows: 2,
  opening_at: null,
  opening_micro: null,
  risen_micro: 1,
  fallen_micro: 2n,
  found_micro: n,
  expected_micro: n,
  difference_micro: 0,
  balanced: true,
  why: null,
  ...values,
});
const sumsOf = (count: number, values?: Partial<BalanceLine>) =>
  Array.from({ length: count }, (_, index) => sumOf(index + 1, values));

test('a balanced sum without rows is a check that nobody sees', () => {
  const [shown, failed, empty] = [sumOf(1), sumOf(2, { rows: 0, balanced: false }), sumOf(3, { rows: 0 })];
  expect(selectListedSums([shown, failed, empty])).toEqual([shown, failed]);
  expect(describeVerdict([shown, failed, empty])).toBe(
    '1 of 3 checks failed. 1 with nothing to check are hidden.',
  );
});

test('few sums are all shown, and none is added up', () => {
  const sums = sumsOf(MAX_SUMS_SHOWN);
  expect(toReadableSums([...sums, sumOf(99, { rows: 0 })])).toEqual({
    totals: [],
    failed: [],
    shown: sums,
    hiddenCount: 0,
  });
});

test('many sums are added up by check and type, those that fail come first, and the rest is limited', () => {
  const failed = sumOf(98, { balanced: false, opening_micro: 5 });
  const other = sumOf(99, { type: 'exAnte' });
  const sums = sumsOf(MAX_SUMS_SHOWN);
  const readable = toReadableSums([...sums, failed, other]);
  const total = { organization_id: null, organization_name: null };
  expect(readable).toEqual({
    totals: [
      {
        ...failed,
        ...total,
        rows: 42,
        risen_micro: 21n,
        fallen_micro: 42n,
        found_micro: 308n,
        expected_micro: 308n,
        difference_micro: 0n,
      },
      { ...other, ...total },
    ],
    failed: [failed],
    shown: sums.slice(0, MAX_SUMS_SHOWN - 1),
    hiddenCount: 2,
  });
  expect(toReadableSums(sumsOf(MAX_SUMS_SHOWN + 5, { balanced: false }))).toMatchObject({
    failed: sumsOf(MAX_SUMS_SHOWN, { balanced: false }),
    shown: [],
    hiddenCount: 5,
  });
});
