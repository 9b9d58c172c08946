import { expect, test } from 'vitest';
import { collectRows } from '../../src/query/answer/answer.js';
import { answerChanges, answerNewestChanges } from '../../src/query/history/answer-changes.js';
import { ALL_CHANGES, CHANGE_COLUMNS, readLastNumber } from '../../src/query/history/changes.js';
import { parseChange } from '../../src/text/describe-change.js';
import { NOON } from '../support/inbox.js';
import { MINUTE, openFilledMirror } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

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

test('a change has the row before and after it, and the names of the changed columns', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 0 });
  await read('warehouse', [credit('c-1', { amount: amount('184.25') })]);
  clock.at += 1;
  await read('warehouse', [credit('c-1', { amount: amount('182.25') })]);
  const request = { ...ALL_CHANGES, resource: 'warehouse' };
  const rows = await collectRows((await answerChanges(reader, request, null)).rows);
  expect(Object.keys(rows[0] ?? {}).toSorted()).toEqual(CHANGE_COLUMNS.toSorted());
  const [added, changed] = rows.map(parseChange);
  expect(added).toMatchObject({ change: 'added', before: null, changed_columns: null });
  expect(changed).toMatchObject({
    resource: 'warehouse',
    organization_id: 'organization-1',
    row_id: 'c-1',
    change: 'changed',
    observed_at: new Date(clock.at).toISOString(),
    before: { amount_exact: '184.25', amount_micro: 184_250_000 },
    after: { amount_exact: '182.25', amount_micro: 182_250_000 },
    changed_columns: ['amount_micro', 'amount_exact'],
    trigger: 'delivery',
  });
});

test('changes of a period are found although the clock was set back meanwhile, also after a number', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 0, at: NOON });
  clock.at = NOON + 30 * MINUTE;
  await read('warehouse', [credit('c-1')]);
  clock.at = NOON + 10 * MINUTE;
  await read('retirements', [retirement('r-1')]);
  clock.at = NOON + 40 * MINUTE;
  await read('inventory', [credit('c-2')]);
  const find = async (since: number | null, until: number | null, after: number | null = null) => {
    const toInstant = (minutes: number | null) =>
      minutes === null ? null : new Date(NOON + minutes * MINUTE).toISOString();
    const request = { ...ALL_CHANGES, since: toInstant(since), until: toInstant(until) };
    const changes = await collectRows((await answerChanges(reader, request, after)).rows);
    const newest = await answerNewestChanges(reader, request, { before: null, limit: 10 });
    if (after === null)
      expect((await collectRows(newest.rows)).map(({ number }) => number).toReversed()).toEqual(
        changes.map(({ number }) => number),
      );
    return changes.map(({ resource }) => resource);
  };
  expect(await find(null, null)).toEqual(['installation', 'warehouse', 'retirements', 'inventory']);
  expect(await find(20, null)).toEqual(['warehouse', 'inventory']);
  expect(await find(30, 40)).toEqual(['warehouse', 'inventory']);
  expect(await find(5, 20)).toEqual(['retirements']);
  expect(await find(null, 10)).toEqual(['installation', 'retirements']);
  expect(await find(10, 39)).toEqual(['warehouse', 'retirements']);
  expect(await find(41, null)).toEqual([]);
  const [, warehouse] = await collectRows((await answerChanges(reader, ALL_CHANGES, null)).rows);
  expect(await find(5, null, warehouse?.number ?? 0)).toEqual(['retirements', 'inventory']);
  expect(await find(5, 20, 0)).toEqual(['retirements']);
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

test('changes of installations cover all known organizations, because installations are one list', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const answer = await answerChanges(reader, { ...ALL_CHANGES, resource: 'installation' }, null);
  expect(answer.coverage).toEqual({ counted: 2, known: 2, missing: 0 });
  expect(answer.caveats).toEqual([]);
});
