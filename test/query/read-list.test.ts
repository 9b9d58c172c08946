import { expect, test } from 'vitest';
import { RETIREMENTS, SYNCS, WAREHOUSE } from '../../src/query/lists/list-definitions.js';
import { parseListRequest } from '../../src/query/lists/parse-request.js';
import { readList, type RowRange } from '../../src/query/lists/read-list.js';
import { serializeAnswer, formatNotesCell } from '../../src/query/answer/serialize.js';
import { collectRows, streamOf } from '../../src/query/answer/answer.js';
import { describeTotals } from '../../src/query/answer/describe-totals.js';
import type { Reader } from '../../src/store/contract/reader.js';
import type { Row } from '../../src/store/contract/tables.js';
import { askList } from '../support/ask-list.js';
import { breakReads, openFilledMirror } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

test('a list is answered with rows, totals by credit type, coverage and the freshness of each row', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  await filled.read('warehouse', [credit('c-1-0'), credit('c-a', { type: 'exAnte', amount: amount('2.5') })]);
  const answer = await askList(filled, WAREHOUSE);
  expect(answer.rows.map(row => [row['credit_id'], row['freshness']])).toContainEqual(['c-a', 'fresh']);
  expect(answer.totals).toEqual({
    rows: 4,
    hasMore: false,
    amounts: [
      { type: 'exAnte', amountMicro: 2_500_000n },
      { type: 'exPost', amountMicro: 300_000_000n },
    ],
    rowsWithoutAmount: 0,
  });
  expect(describeTotals(answer.totals, 'credit')).toBe('4 credits: 300 t ex-post and 2.5 t ex-ante');
  expect(answer).toMatchObject({ coverage: { counted: 2, known: 2, missing: 0 }, gaps: [], caveats: [] });
});

test('a page shows how fresh each row is unless all lists are fresh', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const range = { kind: 'page', limit: 5, after: null } as const;
  expect((await askList(filled, WAREHOUSE, { range })).rowFreshness).toBeNull();
  await breakReads(filled, 'organization-2');
  const { rowFreshness, rows } = await askList(filled, WAREHOUSE, { range });
  expect(rowFreshness?.areAllFresh).toBe(false);
  expect(new Set(rows.map(row => row['freshness']))).toEqual(new Set(['fresh', 'stale']));
});

test('the first rows of a list carry the caveat that there are more, and the total of all', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const first = await askList(filled, RETIREMENTS, { range: { kind: 'first', limit: 1 } });
  expect(first).toMatchObject({ totals: { rows: 3 }, caveats: [{ code: 'limited', rows: 1 }] });
  expect(first.rows).toHaveLength(1);
  const all = await askList(filled, RETIREMENTS, { range: { kind: 'first', limit: 3 } });
  expect(all.caveats).toEqual([]);
});

test('a page continues where the previous one ended and has no caveat about more rows', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const page = (after: RowRange & { kind: 'page' }) => askList(filled, RETIREMENTS, { range: after });
  const one = await page({ kind: 'page', limit: 2, after: null });
  const two = await page({ kind: 'page', limit: 2, after: one.next });
  expect([one.rows.length, two.rows.length, two.next, one.caveats]).toEqual([2, 1, null, []]);
  expect(two.totals.rows).toBe(3);
});

test('rows without a usable amount are in no total, and a caveat counts them', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  await filled.read('retirements', [
    retirement('r-1-0'),
    retirement('r-odd', { amount: amount('1.1234567') }),
  ]);
  const { totals, caveats } = await askList(filled, RETIREMENTS);
  expect(totals.rowsWithoutAmount).toBe(1);
  expect(caveats).toEqual([{ code: 'without_amount', rows: 1 }]);
});

test('an empty list carries a caveat for each filter that no row matches, with similar values', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { rows, caveats, empty } = await askList(filled, RETIREMENTS, {
    filters: { beneficiary: 'Harbour Ferrys' },
  });
  expect([rows, empty]).toEqual([[], 'No retirements match these filters.']);
  expect(caveats).toMatchObject([
    { code: 'no_match', filter: 'beneficiary', value: 'Harbour Ferrys', similar: ['Harbour Ferries'] },
  ]);
});

test('a list of warehouses that are not all fresh states how much of it is available now', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const readAvailable = async (filters: Readonly<Record<string, string>> = {}, at: string | null = null) =>
    (await askList(filled, WAREHOUSE, { filters, at })).available;
  expect(await readAvailable()).toBeNull();
  await breakReads(filled, 'organization-2');
  expect(await readAvailable()).toEqual([{ type: 'exPost', amountMicro: 100_000_000n }]);
  expect(await readAvailable({ organization_id: 'organization-2' })).toEqual([]);
  expect(await readAvailable({ organization_id: 'organization-1' })).toBeNull();
  expect(await readAvailable({ vintage: '1066' })).toBeNull();
  expect(await readAvailable({ credit_id: 'c-2-0' })).toEqual([]);
  expect(await readAvailable({}, new Date(filled.clock.at).toISOString())).toBeNull();
  expect((await askList(filled, RETIREMENTS)).available).toBeNull();
});

test('rows that are read at once are of one moment, and more than 1,000 are streamed', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  let snapshots = 0;
  const inSnapshot: Reader['inSnapshot'] = async work => {
    snapshots += 1;
    return await filled.reader.inSnapshot(work);
  };
  const counting = { reader: { ...filled.reader, inSnapshot }, clock: filled.clock };
  for (const [range, count] of [
    [{ kind: 'first', limit: 1_000 }, 1],
    [{ kind: 'page', limit: 50, after: null }, 2],
    [{ kind: 'first', limit: 1_001 }, 2],
    [{ kind: 'all' }, 2],
  ] as const) {
    await askList(counting, RETIREMENTS, { range });
    expect(snapshots, JSON.stringify(range)).toBe(count);
  }
});

const DATES = [null, '2026-03-01T10:00:00.000Z'];
test.each([
  ['none has a date', (index: number) => DATES[0 * index] ?? null],
  ['every second one has a date', (index: number) => DATES[index % 2] ?? null],
  ['all have the same date', () => DATES[1] ?? null],
  ['each has its own date', (index: number) => `2026-03-01T10:00:00.${100 + index}Z`],
])('each row is on one page, in the order of the whole list, if %s', async (_title, dateOf) => {
  const filled = await openFilledMirror({ organizations: 0 });
  const items = Array.from({ length: 11 }, (_, index) =>
    retirement(`r-${index}`, { createdAt: dateOf(index), vintage: index % 3 === 0 ? null : '2021' }),
  );
  await filled.read('retirements', items);
  const now = new Date(filled.clock.at).toISOString();
  for (const filters of [{}, { organization_id: 'organization-1' }, { project: 'peat' }])
    for (const at of [null, now]) {
      const whole = await askList(filled, RETIREMENTS, { filters, at });
      const pages: Row[] = [];
      let next: RowRange & { kind: 'page' } = { kind: 'page', limit: 4, after: null };
      for (let count = 1; ; count += 1) {
        const page = await askList(filled, RETIREMENTS, { filters, at, range: next });
        expect(page.rows).toHaveLength(count === 3 ? 3 : 4);
        pages.push(...page.rows);
        if (page.next === null) break;
        next = { ...next, after: page.next };
      }
      expect(pages.map(({ id }) => id)).toEqual(whole.rows.map(({ id }) => id));
      expect(new Set(pages.map(({ id }) => id)).size).toBe(11);
    }
});

test('organizations whose list was never read are missing in the coverage, and a caveat counts them', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  await filled.tables.change(
    `UPDATE resource_states SET first_complete_at = NULL, as_of = NULL, outcome = NULL
     WHERE organization_id = 'organization-2' AND resource = 'retirements'`,
  );
  const { coverage, caveats } = await askList(filled, RETIREMENTS);
  expect(coverage).toEqual({ counted: 1, known: 2, missing: 1 });
  expect(caveats).toEqual([{ code: 'never_read', organizations: 1 }]);
  const one = await askList(filled, RETIREMENTS, { filters: { organization_id: 'organization-2' } });
  expect(one.caveats).toContainEqual({ code: 'nothing_read', organizations: 1 });
});

test('a list as of an instant has its gaps, and a caveat says until when it had been read', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const now = new Date(filled.clock.at).toISOString();
  const answer = await askList(filled, RETIREMENTS, { at: now });
  expect(answer).toMatchObject({ at: now, freshness: [], gaps: [], coverage: { counted: 2, known: 2 } });
  expect(answer.caveats).toMatchObject([{ lists: 2 }]);
  const before = await askList(filled, RETIREMENTS, { at: '2020-01-01T00:00:00.000Z' });
  expect(before.rows).toEqual([]);
  expect(before.gaps.map(({ organizationName, reason }) => [organizationName, reason.code])).toEqual([
    ['Organization 1', 'before_first_read'],
    ['Organization 2', 'before_first_read'],
  ]);
  expect(before.caveats).toMatchObject([{ code: 'nothing_known_then', organizations: 2 }]);
  expect(formatNotesCell(before)).toMatch(/^nothing_known_then .*; gap_before_first_read lists=2$/);
});

test('a sync has its duration in seconds, and none while it runs', async () => {
  const filled = await openFilledMirror({ organizations: 0 });
  await filled.tables.change('DELETE FROM syncs');
  const add = async (state: string, finishedAt: string | null) =>
    await filled.tables.change(
      `INSERT INTO syncs (organization_id, resource, trigger, claim, started_at, finished_at, state)
       VALUES ('organization-1', 'warehouse', 'schedule', 1, '2026-05-04T12:00:00.000Z', ?, ?)`,
      finishedAt,
      state,
    );
  await add('complete', '2026-05-04T12:00:01.250Z');
  await add('running', null);
  const { rows, coverage, freshness, columns } = await askList(filled, SYNCS);
  expect(rows.map(({ state, seconds }) => [state, seconds])).toEqual([
    ['running', null],
    ['complete', 1.25],
  ]);
  expect([coverage, freshness, columns.includes('freshness')]).toEqual([null, [], false]);
});

test('JSON of an answer without rows has an empty list', async () => {
  const filled = await openFilledMirror({ organizations: 0 });
  const { rows: _, ...notes } = await askList(filled, RETIREMENTS);
  const texts = await collectRows(serializeAnswer(streamOf([]), notes, JSON.stringify, { balanced: null }));
  expect(texts.join('')).toMatch(/^\{"rows": \[\],\n"as_of": null,\n/);
  expect(JSON.parse(texts.join(''))).toMatchObject({ rows: [], totals: { rows: 0 }, balanced: null });
});

test('JSON has the rows first and then totals, coverage, freshness, gaps and caveats', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const request = await parseListRequest(filled.reader, RETIREMENTS, {
    getText: () => null,
    at: null,
    now: filled.clock.at,
  });
  if ('fault' in request) throw new Error(request.fault);
  const { rows, ...notes } = await readList(filled.reader, request, { kind: 'all' });
  const texts: string[] = [];
  for await (const text of serializeAnswer(rows, notes, JSON.stringify)) texts.push(text);
  expect(texts.join('')).toContain('\n],\n"as_of": null,\n');
  const parsed: unknown = JSON.parse(texts.join(''));
  expect(Object.keys(Object(parsed))).toEqual([
    'rows',
    'as_of',
    'totals',
    'coverage',
    'freshness',
    'gaps',
    'caveats',
  ]);
  expect(parsed).toMatchObject({
    rows: [{ id: 'r-1-0' }],
    totals: { rows: 1, has_more: false, rows_without_amount: 0 },
    coverage: { counted: 1, known: 1, missing: 0 },
  });
});
