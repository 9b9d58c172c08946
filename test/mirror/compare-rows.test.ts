import { expect, test } from 'vitest';
import { compareRows, formatKey, type ObservedRow } from '../../src/mirror/list/list-comparison.js';
import type { StoredRow } from '../../src/mirror/port/rows.js';
import type { Retirement } from '../../src/registry/object-models.js';
import { LISTS } from '../../src/resources/lists.js';
import { retirement } from '../support/mirror/rows.js';

const entry = LISTS.retirements;
const OBSERVED_AT = '2026-05-04T12:00:00.000Z';

function observe(item: Retirement): ObservedRow<Retirement> {
  const key = [item.id];
  return { item, key, keyText: formatKey(key), observedAt: OBSERVED_AT };
}

function store(item: Retirement, version: number): StoredRow {
  const cells = entry.columns.map(column => column.getValue(item));
  return { version, key: [item.id], document: item.document, cells };
}

function compare(items: readonly Retirement[], stored: readonly StoredRow[], checksColumns = false) {
  const storedRows = new Map(stored.map(row => [formatKey(row.key), row]));
  return compareRows(items.map(observe), { entry, storedRows, checksColumns });
}

test('a row that is not stored is written as new, with its cells, its time and its project', () => {
  const item = retirement('r-1');
  expect(compare([item], [])).toEqual([
    {
      keyText: 'r-1',
      stored: undefined,
      write: {
        insert: {
          key: ['r-1'],
          cells: entry.columns.map(column => column.getValue(item)),
          document: item.document,
          observedAt: OBSERVED_AT,
          replacedVersion: null,
        },
        projectId: 'project-1',
      },
      repair: null,
    },
  ]);
});

test('a row with another document replaces the stored version, and one with the same document is not written', () => {
  const stored = [store(retirement('r-1'), 7), store(retirement('r-2'), 8)];
  const [changed, unchanged] = compare([retirement('r-1', { reason: 'other' }), retirement('r-2')], stored);
  expect(changed).toMatchObject({ stored: stored[0], write: { insert: { replacedVersion: 7 } } });
  expect(unchanged).toEqual({ keyText: 'r-2', stored: stored[1], write: null, repair: null });
});

test('columns that contradict an unchanged document are repaired, but only if columns are checked', () => {
  const item = retirement('r-1');
  const right = store(item, 7);
  const vintage = entry.columns.findIndex(({ name }) => name === 'vintage');
  const edited = { ...right, cells: right.cells.with(vintage, '1999') };
  expect(compare([item], [edited])).toMatchObject([{ write: null, repair: null }]);
  expect(compare([item], [right], true)).toMatchObject([{ write: null, repair: null }]);
  expect(compare([item], [edited], true)).toMatchObject([
    { write: null, repair: { version: 7, cells: right.cells, description: 'r-1 (vintage)' } },
  ]);
});

test('a changed row is not repaired: its new version has the right columns', () => {
  const edited = { ...store(retirement('r-1'), 7), cells: [] };
  const [row] = compare([retirement('r-1', { reason: 'other' })], [edited], true);
  expect(row).toMatchObject({ write: { insert: { replacedVersion: 7 } }, repair: null });
});

test('a row without a project references none', () => {
  expect(compare([retirement('r-1', { project: null })], [])).toMatchObject([{ write: { projectId: null } }]);
});
