import { expect, test } from 'vitest';
import { findOwnerColumn, getIdColumn, listKeyColumns, listTableColumns } from '../../src/resources/entry.js';
import { toInstallationColumns } from '../../src/resources/installations.js';
import { LISTS, LIST_RESOURCES, type ListResource } from '../../src/resources/lists.js';
import { ENTRIES, findEntry, findResourceOfTable } from '../../src/resources/resources.js';
import { temporaryMirror } from '../support/mirror/open.js';
import { credit, installation, organization } from '../support/mirror/rows.js';

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
    // A column that a later migration adds is the last one of its table.
    expect(columns.all(entry.table).toSorted()).toEqual(listTableColumns(entry).toSorted());
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

test('the source of an entry has the columns by which rows are found', () => {
  const columns = temporaryMirror()
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
    .pluck();
  for (const entry of ENTRIES) {
    const owner = findOwnerColumn(entry) ?? getIdColumn(entry);
    expect(columns.all(entry.source)).toEqual(
      expect.arrayContaining([getIdColumn(entry), owner, 'version', 'valid_from']),
    );
  }
});

test.each([
  ['installations', 'installation', 'id', 'organization_id'],
  ['warehouse_credits', 'warehouse', 'credit_id', 'organization_id'],
  ['organizations', 'organization', 'id', 'id'],
  ['certificates', 'certificates', 'retirement_id', 'organization_id'],
  ['projects', 'projects', 'id', null],
])('the rows of %s belong to the resource %s, with the id in %s and the owner in %s', (...expected) => {
  const entry = findEntry(expected[0]);
  if (entry === undefined) throw new Error(`expected an entry of the table ${expected[0]}`);
  expect([entry.table, findResourceOfTable(entry), getIdColumn(entry), findOwnerColumn(entry)]).toEqual(
    expected,
  );
});

test('a column without a value is null', () => {
  const item = credit('c-1', { project: null, serialization: null });
  const empty = LISTS.warehouse.columns.filter(({ getValue }) => getValue(item) === null);
  expect(empty.map(({ name }) => name)).toEqual([
    'project_id',
    'project_name',
    'serialization',
    'vintage',
    'token_id',
    'token_address',
    'unit',
    'fault',
  ]);
  const withoutOwner = installation('i-1', { organizationId: null, organization: null });
  expect(toInstallationColumns(withoutOwner).organization_id).toBeNull();
});

test('the owner of an installation is taken from its organization if it has no id of one', () => {
  const owned = installation('i-1', { organizationId: null, organization: organization('organization-2') });
  expect(toInstallationColumns(owned).organization_id).toBe('organization-2');
});

test('long lists are read in each round, and the rows of some lists expire', () => {
  const names = (isMeant: (entry: (typeof LISTS)[ListResource]) => boolean) =>
    LIST_RESOURCES.filter(name => isMeant(LISTS[name]));
  expect(names(({ readInterval }) => readInterval === 'round')).toEqual([
    'warehouse',
    'inventory',
    'retirements',
  ]);
  expect(names(({ readInterval }) => readInterval === 'day')).toEqual([
    'reservations',
    'inventory_requests',
    'organization',
    'addresses',
    'members',
  ]);
  expect(names(({ rowsExpire }) => rowsExpire === true)).toEqual(['reservations', 'inventory_requests']);
});
