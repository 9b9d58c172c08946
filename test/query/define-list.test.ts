import { expect, test } from 'vitest';
import { id, text } from '../../src/query/lists/column.js';
import { byWord } from '../../src/query/lists/filter.js';
import { defineOwnList } from '../../src/query/lists/define-list.js';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { hasColumn } from '../../src/store/contract/tables.js';

const NAMES = { name: 'syncs', singular: 'sync', plural: 'syncs', summary: '', empty: '' };

test('a misspelled column, sort column or filter column of a list does not compile', () => {
  // @ts-expect-error: the column is called resource
  defineOwnList({ ...NAMES, from: 'syncs', columns: [id('id'), text('resuorce')] });
  // @ts-expect-error: the column is called started_at
  defineOwnList({ ...NAMES, from: 'syncs', columns: [id('id')], order: [['startet_at', 'desc']] });
  // @ts-expect-error: the column is called type
  defineOwnList({ ...NAMES, from: 'syncs', columns: [id('id')], filters: { type: byWord('typ') } });
  const list = defineOwnList({ ...NAMES, from: 'syncs', columns: [id('id'), text('resource')] });
  expect(list.columns.map(({ label }) => label)).toEqual(['id', 'resource']);
});

test.each(ALL_LISTS)(
  'the list $name reads only columns that its tables have',
  ({ from, reads, order, past }) => {
    const stored = (table: string, columns: readonly string[]) =>
      columns.filter(column => column !== 'organization_name' && !hasColumn(table, column));
    expect(stored(from, [...reads, ...order.map(([column]) => column)])).toEqual([]);
    expect(past === null ? [] : stored(past.from, past.reads)).toEqual([]);
  },
);

test('each list has one column that identifies a row, and no column twice', () => {
  for (const { name, columns } of ALL_LISTS) {
    expect(columns.filter(({ isName }) => isName).length, name).toBeLessThanOrEqual(1);
    expect(new Set(columns.map(column => column.name)).size, name).toBe(columns.length);
  }
});
