import { describe, expect, test } from 'vitest';
import { collectRows } from '../../src/query/answer/answer.js';
import { type Grouping, parseGroupings, readGroupTotals } from '../../src/query/lists/group-totals.js';
import { RETIREMENTS } from '../../src/query/lists/list-definitions.js';
import { parseListRequest } from '../../src/query/lists/parse-request.js';
import { ENGINES } from '../support/mirror/open.js';
import { amount, retirement } from '../support/mirror/rows.js';

const RETIRED = [
  retirement('r-1', { amount: amount('1.5'), beneficiary: 'Ada', createdAt: '2025-11-30T23:59:59.999Z' }),
  retirement('r-2', { amount: amount('2'), beneficiary: 'Ada', createdAt: '2025-12-01T00:00:00.000Z' }),
  retirement('r-3', { amount: amount('4'), beneficiary: null, createdAt: '2025-12-31T00:00:00.000Z' }),
  retirement('r-4', { amount: amount('8'), beneficiary: 'Bo', createdAt: '2026-01-01T00:00:00.000Z' }),
];

const UNUSABLE = { exact: null, value: null, micro: null, fault: 'about ten' };

describe.each(ENGINES)('$name', ({ library }) => {
  async function openRetirements() {
    const { stage, reader } = await library();
    await stage.read('retirements', RETIRED);
    const readTotals = async (
      by: readonly Grouping[],
      filters: Record<string, string> = {},
      at: string | null = null,
    ) => {
      const request = await parseListRequest(reader, RETIREMENTS, {
        getText: name => filters[name] ?? null,
        at,
        now: stage.clock.at,
      });
      if ('fault' in request) throw new Error(request.fault);
      const answer = await readGroupTotals(reader, request, by);
      return { ...answer, rows: await collectRows(answer.rows) };
    };
    return { stage, readTotals };
  }

  test('each group has its tonnes and its number of retirements, and the total has all', async () => {
    const { readTotals } = await openRetirements();
    const { rows, totals, columns, coverage } = await readTotals(['month']);
    expect(rows.map(row => [row['month'], row['amount_exact'], row['rows']])).toEqual([
      ['2025-11', '1.5', 1],
      ['2025-12', '6', 2],
      ['2026-01', '8', 1],
    ]);
    expect(totals).toMatchObject({ rows: 4, amounts: [{ type: null, amountMicro: 15_500_000n }] });
    expect(columns.map(({ name }) => name)).toEqual(['month', 'amount_exact', 'rows', 'rows_without_amount']);
    expect(coverage).toEqual({ counted: 1, known: 1, missing: 0 });
  });

  test('groupings combine in their order, and a missing value is a group of its own', async () => {
    const { readTotals } = await openRetirements();
    const { rows } = await readTotals(['beneficiary', 'month'], { year: '2025' });
    expect(rows.map(row => [row['beneficiary'], row['month'], row['amount_exact']])).toEqual([
      [null, '2025-12', '4'],
      ['Ada', '2025-11', '1.5'],
      ['Ada', '2025-12', '2'],
    ]);
  });

  test('groups of organizations and projects have ids and names', async () => {
    const { readTotals } = await openRetirements();
    const { rows } = await readTotals(['organization', 'project', 'vintage']);
    const [first = {}] = rows;
    expect(rows).toHaveLength(1);
    expect(first['organization_id']).toBeTypeOf('string');
    expect(Object.keys(first).toSorted()).toEqual(
      [
        'amount_exact',
        'organization_id',
        'organization_name',
        'project_id',
        'project_name',
        'rows',
        'rows_without_amount',
        'vintage',
      ].toSorted(),
    );
  });

  test('rows without a usable amount are counted apart, and a caveat names them', async () => {
    const { stage, readTotals } = await openRetirements();
    await stage.read('retirements', [...RETIRED, retirement('r-5', { amount: UNUSABLE })]);
    const { rows, caveats } = await readTotals(['organization']);
    expect(rows).toMatchObject([{ amount_exact: '15.5', rows: 5, rows_without_amount: 1 }]);
    expect(caveats).toEqual([{ code: 'without_amount', rows: 1 }]);
  });

  test('totals as of an instant have what the mirror had observed by then', async () => {
    const { stage, readTotals } = await openRetirements();
    const before = new Date(stage.clock.at).toISOString();
    stage.clock.at += 1_000;
    await stage.read('retirements', [...RETIRED, retirement('r-5', { amount: amount('16') })]);
    expect((await readTotals(['organization'])).totals.rows).toBe(5);
    const { rows, at } = await readTotals(['organization'], {}, before);
    expect([at, rows.map(row => row['amount_exact'])]).toEqual([before, ['15.5']]);
  });

  test('a group of a project has the id that leads to the project', async () => {
    const { readTotals } = await openRetirements();
    const { columns } = await readTotals(['project']);
    const link = { list: 'projects', idColumn: 'project_id' };
    expect(columns).toContainEqual(expect.objectContaining({ name: 'project_id', link }));
  });

  test('before the first read nothing is known', async () => {
    const { readTotals } = await openRetirements();
    const { rows, caveats, gaps } = await readTotals(['month'], {}, '2020-01-01T00:00:00.000Z');
    expect([rows, gaps.length + caveats.length > 0]).toEqual([[], true]);
  });

  test('filters that match nothing leave no groups', async () => {
    const { readTotals } = await openRetirements();
    expect(await readTotals(['month'], { year: '2019' })).toMatchObject({
      rows: [],
      totals: { rows: 0 },
      empty: 'No retirements match these filters.',
    });
  });
});

test('groupings are parsed in any spelling, once each, and a misspelled one is refused with the known ones', () => {
  expect(parseGroupings('Month, organization,month')).toEqual(['month', 'organization']);
  for (const wrong of ['', 'monht', 'organization,', 'id'])
    expect(parseGroupings(wrong), wrong).toMatchObject({ fault: expect.stringContaining('organization') });
});
