import { expect, test } from 'vitest';
import { collectRows } from '../../src/query/answer/rows.js';
import { answerChanges, answerNewestChanges } from '../../src/query/history/answer-changes.js';
import { ALL_CHANGES, readLastNumber } from '../../src/query/history/changes.js';
import { openFilledMirror } from '../support/mirror/open.js';

test('all changes are answered in the order of their numbers, or those after a number', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const last = await readLastNumber(reader);
  const numbers = async (after: number | null) =>
    (await collectRows((await answerChanges(reader, ALL_CHANGES, after)).rows)).map(({ number }) => number);
  const all = await numbers(null);
  expect(all.at(-1)).toBe(last);
  expect(all).toEqual(all.toSorted((a, b) => a - b));
  expect(await numbers(last - 2)).toEqual([last - 1, last]);
  expect(await numbers(last)).toEqual([]);
});

test('the newest changes are answered with their number and the start of the next ones', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const last = await readLastNumber(reader);
  const first = await answerNewestChanges(reader, ALL_CHANGES, { before: null, limit: 2 });
  expect(first).toMatchObject({ totals: { rows: 2, hasMore: true, amounts: null }, next: last - 1 });
  expect((await collectRows(first.rows)).map(({ number }) => number)).toEqual([last, last - 1]);
  const { totals } = await answerNewestChanges(reader, ALL_CHANGES, { before: null, limit: last });
  const exact = await answerNewestChanges(reader, ALL_CHANGES, { before: null, limit: totals.rows });
  expect(exact).toMatchObject({ totals: { rows: totals.rows, hasMore: false }, next: null });
  const all = await answerNewestChanges(reader, ALL_CHANGES, { before: last, limit: last });
  expect(all).toMatchObject({ totals: { hasMore: false }, next: null });
  expect((await collectRows(all.rows))[0]).toMatchObject({ number: last - 1 });
});

test('changes state the organizations of which no list was read, also in a caveat for files', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 2 });
  const notes = async (resource: string | null, organizationId: string | null = null) => {
    const { rows: _, ...answer } = await answerChanges(
      reader,
      { ...ALL_CHANGES, resource, organizationId },
      null,
    );
    return answer;
  };
  const complete = { at: null, totals: null, freshness: [], gaps: [], caveats: [] };
  expect(await notes(null)).toEqual({ ...complete, coverage: { counted: 2, known: 2, missing: 0 } });
  await read('inventory', []);
  expect(await notes('inventory')).toEqual({
    ...complete,
    coverage: { counted: 1, known: 2, missing: 1 },
    caveats: [{ code: 'never_read', organizations: 1 }],
  });
  expect((await notes('inventory', 'organization-1')).caveats).toEqual([]);
});
