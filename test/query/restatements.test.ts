import { expect, test } from 'vitest';
import { readLastRestatement } from '../../src/query/history/restated-fields.js';
import { findList } from '../../src/query/lists/list-definitions.js';
import { askList } from '../support/ask-list.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { amount, retirement } from '../support/mirror/rows.js';

const RESTATEMENTS = findList('restatements');

/** Fills a mirror in which the registry changed one retirement of 2025 and removed one of 2024. */
async function openRestatedMirror() {
  const filled = await openFilledMirror({ organizations: 1 });
  const others = ['s-1', 's-2', 's-3', 's-4'].map(id => retirement(id));
  const changed = (tonnes: string) =>
    retirement('r-changed', { amount: amount(tonnes), createdAt: '2025-06-01T00:00:00.000Z' });
  const removed = retirement('r-removed', { createdAt: '2024-06-01T00:00:00.000Z' });
  const read = async (...items: ReturnType<typeof retirement>[]) =>
    await filled.read('retirements', [...items, ...others], { findGone: async ids => ids });
  await read(changed('5'), removed);
  filled.clock.at += 1;
  await read(changed('4.5'));
  return filled;
}

test('the list of restatements has each change after the year, the newest first', async () => {
  const filled = await openRestatedMirror();
  const { rows, totals, columns } = await askList(filled, RESTATEMENTS);
  const columnsShown = ['id', 'year', 'change', 'fields', 'old_values', 'new_values'];
  expect(rows.map(row => columnsShown.map(name => row[name]))).toEqual([
    ['r-removed', '2024', 'removed', null, null, null],
    ['r-changed', '2025', 'changed', 'amount', '5', '4.5'],
  ]);
  expect(rows[0]).toMatchObject({ organization_name: 'Organization 1', freshness: 'fresh' });
  expect(totals).toMatchObject({ rows: 2, amounts: null });
  expect(columns.slice(0, 2)).toEqual(['number', 'observed_at']);
});

test('a restatement names every field that changed, and a retirement knows when it was restated last', async () => {
  const filled = await openRestatedMirror();
  filled.clock.at += 1;
  const beneficiary = { beneficiary: null, reason: 'Another' };
  const renamed = retirement('r-changed', {
    amount: amount('4.5'),
    createdAt: '2025-06-01T00:00:00.000Z',
    ...beneficiary,
  });
  const others = ['s-1', 's-2', 's-3', 's-4'].map(id => retirement(id));
  await filled.read('retirements', [renamed, ...others]);
  const [newest = {}] = (await askList(filled, RESTATEMENTS)).rows;
  expect(newest).toMatchObject({ id: 'r-changed', new_values: expect.stringContaining('nothing') });
  expect(String(newest['fields']).split('; ').toSorted()).toEqual(['beneficiary', 'reason']);
  const readLast = async (id: string, at: string | null = null) =>
    await readLastRestatement(filled.reader, String(newest['organization_id']), id, at);
  expect(await readLast('r-changed')).toBe(newest['observed_at']);
  expect(await readLast('r-changed', '2020-01-01T00:00:00.000Z')).toBeNull();
  expect(await readLast('s-1')).toBeNull();
});

test('restatements are filtered by number, retirement, year, kind and day', async () => {
  const filled = await openRestatedMirror();
  const [newest = {}] = (await askList(filled, RESTATEMENTS)).rows;
  const ids = async (filters: Readonly<Record<string, string>>) =>
    (await askList(filled, RESTATEMENTS, { filters })).rows.map(row => row['id']);
  expect(await ids({ number: String(newest['number']) })).toEqual(['r-removed']);
  expect(await ids({ id: 'r-ch' })).toEqual(['r-changed']);
  expect(await ids({ year: '2025' })).toEqual(['r-changed']);
  expect(await ids({ change: 'removed' })).toEqual(['r-removed']);
  expect(await ids({ resource: 'certificates' })).toEqual([]);
  expect(await ids({ until: '2020' })).toEqual([]);
});

test('restatements state the coverage of the retirements that they are computed from', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  expect(await askList(filled, RESTATEMENTS)).toMatchObject({
    rows: [],
    empty: 'No restatements have been observed.',
    coverage: { counted: 2, known: 2, missing: 0 },
    caveats: [],
  });
  await filled.tables.change(
    `UPDATE resource_states SET first_complete_at = NULL, as_of = NULL, outcome = NULL
     WHERE organization_id = 'organization-2' AND resource = 'retirements'`,
  );
  expect(await askList(filled, RESTATEMENTS)).toMatchObject({
    coverage: { counted: 1, known: 2, missing: 1 },
    caveats: [{ code: 'never_read', organizations: 1 }],
  });
});
