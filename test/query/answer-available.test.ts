import { expect, test } from 'vitest';
import { answerAvailable } from '../../src/query/available.js';
import { collectRows } from '../../src/query/answer/answer.js';
import { breakReads, openFilledMirror } from '../support/mirror/open.js';
import { amount, credit } from '../support/mirror/rows.js';

const ALL = { organizationId: null };

test('available credits are answered with totals by type, coverage and the freshness of their warehouses', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const items = [credit('c-1-0'), credit('c-a', { type: 'exAnte', amount: amount('2.5') })];
  await filled.read('warehouse', items);
  const answer = await answerAvailable(filled.reader, ALL);
  expect((await collectRows(answer.rows)).map(row => row.credit_id)).toEqual([
    'c-a',
    'c-1-0',
    'c-2-0',
    'c-2-1',
  ]);
  expect(answer).toMatchObject({
    at: null,
    totals: {
      rows: 4,
      hasMore: false,
      amounts: [
        { type: 'exAnte', amountMicro: 2_500_000n },
        { type: 'exPost', amountMicro: 300_000_000n },
      ],
      rowsWithoutAmount: 0,
    },
    coverage: { counted: 2, known: 2, missing: 0 },
    freshness: [{ state: 'fresh', reason: null, failing_since: null, resources: 2, rows: 4 }],
    gaps: [],
    caveats: [],
    excluded: [],
    uninstalled: 0,
  });
});

test('warehouses that are not fresh are missing in the coverage, and a caveat counts them', async () => {
  const filled = await openFilledMirror({ organizations: 3 });
  await breakReads(filled, 'organization-3');
  const answer = await answerAvailable(filled.reader, ALL);
  expect(answer).toMatchObject({
    totals: { rows: 3, amounts: [{ amountMicro: 300_000_000n }] },
    coverage: { counted: 2, known: 3, missing: 1 },
    caveats: [{ code: 'left_out', organizations: 1 }],
    excluded: [{ organization_id: 'organization-3', rows: 3 }],
  });
});

test('fresh warehouses whose last read failed are a state of their own, and rows without an amount a caveat', async () => {
  const filled = await openFilledMirror({ organizations: 3 });
  await filled.read('warehouse', [credit('c-1-0', { amount: amount('1.1234567') })]);
  const since = '2026-05-04T12:00:00.000Z';
  await filled.tables.change(
    `UPDATE resource_states SET outcome = 'failed', failing_since = '${since}'
     WHERE organization_id <> 'organization-1' AND resource = 'warehouse'`,
  );
  const newest = '2026-05-04T13:00:00.000Z';
  await filled.tables.change(
    `UPDATE resource_states SET failing_since = '${newest}'
     WHERE organization_id = 'organization-2' AND resource = 'warehouse'`,
  );
  const { freshness, caveats, totals } = await answerAvailable(filled.reader, ALL);
  expect(freshness).toMatchObject([
    { state: 'fresh', failing_since: null, resources: 1, rows: 1 },
    { state: 'fresh', failing_since: newest, resources: 2, rows: 5 },
  ]);
  expect(totals.rowsWithoutAmount).toBe(1);
  expect(caveats).toEqual([{ code: 'without_amount', rows: 1 }]);
});

test('nothing is available before the first read, and the organization is left out', async () => {
  const { reader } = await openFilledMirror({ organizations: 0 });
  expect(await answerAvailable(reader, ALL)).toMatchObject({
    totals: { rows: 0, amounts: [] },
    coverage: { counted: 0, known: 1, missing: 1 },
    freshness: [],
    caveats: [{ code: 'left_out', organizations: 1 }],
  });
});
