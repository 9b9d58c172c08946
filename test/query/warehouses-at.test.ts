import { expect, test } from 'vitest';
import { collectRows } from '../../src/query/answer/answer.js';
import { readWarehousesAt } from '../../src/query/history/warehouses-at.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { amount, credit } from '../support/mirror/rows.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

async function ask({ reader }: Filled, at: string, projectId: string | null = null) {
  const { rows, ...notes } = await readWarehousesAt(reader, { at, organizationIds: null, projectId });
  return { ...notes, rows: await collectRows(rows) };
}

test('the warehouses as of an instant are summed by project, with totals and without organizations unknown then', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const before = new Date(filled.clock.at).toISOString();
  filled.clock.at += 1_000;
  const changed = [
    credit('c-1-0', { amount: amount('30') }),
    credit('c-a', { type: 'exAnte', amount: amount('2.5') }),
    credit('c-odd', { amount: amount('1.1234567') }),
  ];
  await filled.read('warehouse', changed);
  const now = new Date(filled.clock.at).toISOString();
  const earlier = await ask(filled, before);
  expect(earlier).toMatchObject({
    at: before,
    totals: { rows: 3, amounts: [{ type: 'exPost', amountMicro: 300_000_000n }], rowsWithoutAmount: 0 },
    coverage: { counted: 2, known: 2, missing: 0 },
    gaps: [],
  });
  expect(earlier.rows.map(row => [row.vintage, row.type, row.amount_micro, row.rows])).toEqual([
    ['2021', 'exPost', 300_000_000n, 3],
  ]);
  const later = await ask(filled, now);
  expect(later.totals).toEqual({
    rows: 5,
    hasMore: false,
    amounts: [
      { type: 'exAnte', amountMicro: 2_500_000n },
      { type: 'exPost', amountMicro: 230_000_000n },
    ],
    rowsWithoutAmount: 1,
  });
  expect(later.caveats).toContainEqual({ code: 'without_amount', rows: 1 });
  await filled.tables.change(
    `UPDATE resource_states SET first_complete_at = '2999-01-01T00:00:00.000Z'
     WHERE organization_id = 'organization-2' AND resource = 'warehouse'`,
  );
  expect(await ask(filled, now)).toMatchObject({
    totals: { rows: 3 },
    coverage: { counted: 1, known: 2, missing: 1 },
    gaps: [{ organizationId: 'organization-2', reason: { code: 'before_first_read' } }],
  });
});

test('the warehouses as of an instant can be limited to one project', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const now = new Date(filled.clock.at).toISOString();
  const { rows } = await ask(filled, now);
  expect((await ask(filled, now, rows[0]?.project_id ?? 'no row')).totals?.rows).toBe(1);
  expect(await ask(filled, now, 'nothing')).toMatchObject({ rows: [], totals: { rows: 0, amounts: [] } });
});

test('nothing is in the warehouses before the first complete read', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  expect(await ask(filled, '2020-01-01T00:00:00.000Z')).toMatchObject({
    rows: [],
    coverage: { counted: 0, known: 2, missing: 2 },
    caveats: [{ code: 'nothing_known_then', organizations: 2, knownFrom: expect.stringMatching(/^20/) }],
  });
});
