import { expect, test } from 'vitest';
import { listTableColumns, listKeyColumns } from '../../src/resources/entry.js';
import { ENTRIES, findEntry } from '../../src/resources/resources.js';
import { temporaryMirror } from '../support/mirror/open.js';

const HISTORY = /_history$/;

test('every table with versions has an entry, and every entry such a table', () => {
  const views = temporaryMirror()
    .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'view'")
    .pluck()
    .all();
  const versioned = views.filter(name => HISTORY.test(name)).map(name => name.replace(HISTORY, ''));
  expect(ENTRIES.map(({ table }) => table).toSorted()).toEqual(versioned.toSorted());
});

test('an entry lists the columns of its table and of its history', () => {
  const db = temporaryMirror();
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck();
  for (const entry of ENTRIES) {
    expect(columns.all(entry.table)).toEqual(listTableColumns(entry));
    const history = columns.all(`${entry.table}_history`);
    expect(history).toEqual(expect.arrayContaining([...listTableColumns(entry), 'valid_to', 'closed_by']));
  }
});

test('the key of an entry is a unique index of its table', () => {
  const db = temporaryMirror();
  const unique = db
    .prepare<[string], string>(
      `SELECT group_concat(c.name) FROM pragma_index_list(?) AS i, pragma_index_info(i.name) AS c
       WHERE i."unique" GROUP BY i.name`,
    )
    .pluck();
  for (const entry of ENTRIES) expect(unique.all(entry.table)).toContain(listKeyColumns(entry).join(','));
});

test('findEntry finds an entry by its table', () => {
  expect(findEntry('warehouse_credits')?.permission).toBe('organization_warehouse');
  expect(findEntry('warehouse_credits_history')).toBeUndefined();
});
