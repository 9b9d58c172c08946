import { expect, test } from 'vitest';
import {
  tableColumns,
  keyColumns,
  OWNER_NAME_COLUMN,
  idColumn,
  ownerColumn,
} from '../../src/resources/entry.js';
import { ENTRIES, findEntry } from '../../src/resources/resources.js';
import { temporaryMirror } from '../support/mirror/open.js';

const HISTORY = /_history$/;

test('each table that has versions is an entry, and each entry a table that has versions', () => {
  const views = temporaryMirror()
    .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'view'")
    .pluck()
    .all();
  const versioned = views.filter(name => HISTORY.test(name)).map(name => name.replace(HISTORY, ''));
  expect(ENTRIES.map(({ table }) => table).toSorted()).toEqual(versioned.toSorted());
});

test("the columns of a table are those of its entry, and so are its history's but for its end", () => {
  const db = temporaryMirror();
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck();
  for (const entry of ENTRIES) {
    expect(columns.all(entry.table)).toEqual(tableColumns(entry));
    const history = columns.all(`${entry.table}_history`);
    expect(history).toEqual(expect.arrayContaining([...tableColumns(entry), 'valid_to', 'closed_by']));
  }
});

test('the key of an entry is what no two rows of its table share', () => {
  const db = temporaryMirror();
  const unique = db
    .prepare<[string], string>(
      `SELECT group_concat(c.name) FROM pragma_index_list(?) AS i, pragma_index_info(i.name) AS c
       WHERE i."unique" GROUP BY i.name`,
    )
    .pluck();
  for (const entry of ENTRIES) expect(unique.all(entry.table)).toContain(keyColumns(entry).join(','));
});

test('what is shown of a row is there to be shown', () => {
  const db = temporaryMirror();
  for (const entry of ENTRIES) {
    const { from, columns, order } = entry.display;
    const wanted = [
      idColumn(entry),
      ownerColumn(entry) ?? 'id',
      ...columns,
      ...order.map(([column]) => column),
    ].map(name => (name === OWNER_NAME_COLUMN ? 'organization_id' : name));
    expect(() => db.prepare(`SELECT ${wanted.join(', ')} FROM ${from}`)).not.toThrow();
  }
});

test('an entry is found by its table', () => {
  expect(findEntry('warehouse_credits')?.permission).toBe('organization_warehouse');
  expect(findEntry('warehouse_credits_history')).toBeUndefined();
});
