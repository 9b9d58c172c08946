import { expect, test } from 'vitest';
import { parseListRequest } from '../../src/query/lists/parse-request.js';
import { describeCaveat } from '../../src/query/answer/caveat.js';
import { findUnmatchedFilters } from '../../src/query/lists/unmatched-filters.js';
import { findIdsByStart, findReferencedProjects } from '../../src/query/lists/find-by-id.js';
import { MIRRORED, RETIREMENTS, WAREHOUSE } from '../../src/query/lists/list-definitions.js';
import { hasRows, readAll } from '../../src/query/lists/read-rows.js';
import { readTotals } from '../../src/query/lists/totals.js';
import { readColumnValues } from '../../src/query/lists/column-values.js';
import type { List } from '../../src/query/lists/list-type.js';
import { LISTS } from '../../src/resources/lists.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { credit, retirement } from '../support/mirror/rows.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

async function askFor(
  { reader, clock }: Filled,
  list: List,
  given: Readonly<Record<string, string>>,
  at: string | null = null,
) {
  return await parseListRequest(reader, list, { getText: name => given[name] ?? null, at, now: clock.at });
}

async function idsOf(filled: Filled, list: List, given: Readonly<Record<string, string>>) {
  const request = await askFor(filled, list, given);
  if ('fault' in request) return request.fault;
  return (await readAll(filled.reader, list, request.where, null))
    .map(row => String(row[list.idColumn]))
    .toSorted();
}

test('a list is filtered by an organization, a value, a project and a part of a text', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const { read } = filled;
  const project = { id: 'project-2', fullName: 'Cove' };
  await read('warehouse', [credit('c-1-0'), credit('c-a', { vintage: '2019', type: 'exAnte', project })]);
  expect(await idsOf(filled, WAREHOUSE, { organization_id: 'Organization 2' })).toEqual(['c-2-0', 'c-2-1']);
  expect(await idsOf(filled, WAREHOUSE, { vintage: '2019' })).toEqual(['c-a']);
  expect(await idsOf(filled, WAREHOUSE, { vintage: '..2020' })).toEqual(['c-a']);
  expect(await idsOf(filled, WAREHOUSE, { vintage: '2020..2021' })).toEqual(['c-1-0', 'c-2-0', 'c-2-1']);
  expect(await idsOf(filled, WAREHOUSE, { vintage: '2019..' })).toHaveLength(4);
  expect(await idsOf(filled, WAREHOUSE, { type: 'EX-ANTE' })).toEqual(['c-a']);
  expect(await idsOf(filled, WAREHOUSE, { project: 'cov' })).toEqual(['c-a']);
  expect(await idsOf(filled, RETIREMENTS, { beneficiary: 'ferr' })).toEqual(['r-1-0', 'r-2-0', 'r-2-1']);
  expect(await idsOf(filled, RETIREMENTS, { id: 'r-2…' })).toEqual(['r-2-0', 'r-2-1']);
});

test('only filters that accept any value explain an empty list', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  await filled.read('retirements', [], { findGone: async ids => ids });
  const request = await askFor(filled, RETIREMENTS, { organization_id: 'organization-1', year: '1999' });
  if ('fault' in request) throw new Error(request.fault);
  expect(await findUnmatchedFilters(filled.reader, request)).toEqual([]);
});

test('an empty list is explained by the filter that matches no row, with the nearest value', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const explained = async (given: Readonly<Record<string, string>>) => {
    const request = await askFor(filled, RETIREMENTS, given);
    if ('fault' in request) throw new Error(request.fault);
    return (await findUnmatchedFilters(filled.reader, request)).map(describeCaveat);
  };
  expect(await explained({ beneficiary: 'Harbour Ferrys' })).toEqual([
    'No retirement has "Harbour Ferrys" in its beneficiary. Did you mean "Harbour Ferries"?',
  ]);
  expect(await explained({ id: 'r-9' })).toEqual(['There is no retirement "r-9".']);
  expect(await explained({ beneficiary: 'ferries' })).toEqual([]);
});

test('the values of a column are offered, now or as of an instant, of all organizations or of one', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 2 });
  const before = new Date(clock.at).toISOString();
  clock.at += 1_000;
  await read('warehouse', [credit('c-1-0', { vintage: '2019' }), credit('c-2', { vintage: '2020' })]);
  const values = async (at: string | null, organizationId: string | null = null) =>
    (await readColumnValues(reader, WAREHOUSE, ['vintage'], { at, organizationId }))
      .get('vintage')
      ?.map(({ value }) => value);
  expect(await values(null)).toEqual(['2019', '2020', '2021']);
  expect(await values(before)).toEqual(['2021']);
  expect(await values(null, 'organization-1')).toEqual(['2019', '2020']);
  expect(await values(before, 'organization-1')).toEqual(['2021']);
  expect((await readColumnValues(reader, WAREHOUSE, ['type'], { at: null })).get('type')).toEqual([
    { value: 'exPost', label: 'ex-post' },
  ]);
});

test('no values are offered of a column with more than 200, or of columns with more than 2,000 combinations', async () => {
  const { reader, tables } = await openFilledMirror({ organizations: 0 });
  /** Adds credits with so many vintages of so many types. */
  const add = async (vintages: number, types: number) =>
    await tables.change(
      `INSERT INTO warehouse_credits (version, organization_id, credit_id, inventory_id, vintage, type, valid_from, sync_id, document)
       WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${vintages * types - 1})
       SELECT 1000 + i, 'organization-1', 'c-' || i, '', 'v-' || (i % ${vintages}), 't-' || (i / ${vintages}),
         '2026-05-04T12:00:00.000Z', 1, '{}' FROM n`,
    );
  const counts = async () => {
    const values = await readColumnValues(reader, WAREHOUSE, ['vintage', 'type'], { at: null });
    return [...values.values()].map(choices => choices?.length ?? null);
  };
  await add(200, 10);
  expect(await counts()).toEqual([200, 10]);
  await tables.change("UPDATE warehouse_credits SET type = NULL WHERE credit_id = 'c-0'");
  expect(await counts()).toEqual([200, 10]);
  await tables.change('DELETE FROM warehouse_credits');
  await add(201, 2);
  expect(await counts()).toEqual([null, 2]);
  await tables.change('DELETE FROM warehouse_credits');
  await add(87, 23);
  expect(await counts()).toEqual([null, null]);
});

test('ids are found by their beginnings, in all organizations or in one', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 2 });
  await read('retirements', [retirement('r-1-0'), retirement('s-1')]);
  expect(await findIdsByStart(reader, LISTS.retirements, 's-')).toEqual(['s-1']);
  expect(await findIdsByStart(reader, LISTS.retirements, 'r-')).toHaveLength(2);
  expect(await findIdsByStart(reader, LISTS.retirements, 'r-', { organizationId: 'organization-1' })).toEqual(
    ['r-1-0'],
  );
  expect(await findReferencedProjects(reader, 'proj')).toEqual(['project-1']);
});

test('a list is counted and summed by credit type, and hasRows states whether any row matches', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const all = { list: WAREHOUSE, where: [], at: null };
  const totals = (organizationId: string, limit: number | null = null) =>
    readTotals(reader, { ...all, where: [{ column: 'organization_id', is: organizationId }] }, limit);
  expect(await totals('organization-2')).toEqual({
    rows: 2,
    hasMore: false,
    amounts: [{ type: 'exPost', amountMicro: 200_000_000n }],
    rowsWithoutAmount: 0,
  });
  expect(await totals('organization-2', 1)).toMatchObject({ rows: 1, hasMore: true, amounts: null });
  expect(await totals('nobody')).toMatchObject({ rows: 0, amounts: [] });
  expect(await hasRows(reader, all)).toBe(true);
  expect(await hasRows(reader, { ...all, where: [{ column: 'vintage', is: '1999' }] })).toBe(false);
  expect(MIRRORED.length).toBeGreaterThan(5);
});
