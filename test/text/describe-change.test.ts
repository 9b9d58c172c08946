import { expect, test } from 'vitest';
import {
  type Change,
  createChangeSums,
  describeChange,
  formatChangeHeading,
  listChangedColumns,
  parseChange,
} from '../../src/text/describe-change.js';

const CREDIT = { project_name: 'Peat bog', vintage: '2021', type: 'exPost', amount_exact: '1500.5' };

/** A change of a credit in the warehouse, with other values for some of its fields. */
function createChange(fields: Partial<Change>): Change {
  return {
    number: 1,
    observed_at: '2026-05-04T12:01:00.000Z',
    organization_id: 'o-1',
    organization_name: 'Acme',
    resource: 'warehouse',
    row_id: 'row-1',
    change: 'changed',
    before: null,
    after: null,
    changed_columns: null,
    sync_id: 3,
    trigger: 'schedule',
    job_id: null,
    newest_delivery_id: null,
    ...fields,
  };
}

/** A changed member whose listed columns have the given values before and after. */
function changeMember(before: Change['before'], after: Change['after']): Partial<Change> {
  const changedColumns = Object.keys(after ?? {});
  return { resource: 'members', before, after, changed_columns: changedColumns };
}

test.each<readonly [string, Partial<Change>]>([
  ['warehouse Peat bog 2021: not listed → 1,500.5 t', { after: CREDIT }],
  ['inventory Peat bog 2021: 1,500.5 t → not listed', { resource: 'inventory', before: CREDIT }],
  [
    'warehouse Peat bog: 1,500.5 t → an unreadable amount',
    { before: CREDIT, after: { project_name: 'Peat bog', amount_exact: '' } },
  ],
  [
    'warehouse p-1 2021: project_name Peat bog → nothing',
    {
      before: CREDIT,
      after: { ...CREDIT, project_name: null, project_id: 'p-1' },
      changed_columns: ['project_name'],
    },
  ],
  ['warehouse s-1: not listed → 2 t', { after: { serialization: 's-1', amount_exact: '2' } }],
  ['warehouse of an unnamed project: not listed → 2 t', { after: { amount_exact: '2' } }],
  [
    'retired 1,500.5 t Peat bog 2021 for Harbour Ferries',
    { resource: 'retirements', change: 'added', after: { ...CREDIT, beneficiary: 'Harbour Ferries' } },
  ],
  [
    'retired 1,500.5 t Peat bog 2021, unclaimed on 2026-05-03',
    { resource: 'retirements', change: 'added', after: { ...CREDIT, created_at: '2026-05-03T23:59:59Z' } },
  ],
  [
    'retired 1,500.5 t Peat bog 2021, unclaimed',
    { resource: 'retirements', change: 'added', after: { ...CREDIT, created_at: '2026-05-04T00:00:00Z' } },
  ],
  [
    'reserved 1,500.5 t Peat bog 2021 by Quillford',
    {
      resource: 'reservations',
      change: 'added',
      after: { ...CREDIT, reserver_name: 'Quillford', created_at: '2026-05-03T00:00:00Z' },
    },
  ],
  [
    'reservation of 1,500.5 t Peat bog 2021 removed',
    { resource: 'reservations', change: 'removed', before: CREDIT },
  ],
  ['project Peat bog added', { resource: 'projects', change: 'added', after: { full_name: 'Peat bog' } }],
  ['inventory request row-1 removed', { resource: 'inventory_requests', change: 'removed', before: {} }],
  ['new_resource row-1 added', { resource: 'new_resource', change: 'added', after: {} }],
  ['member row-1: amount 1 → 2', changeMember({ amount_exact: '1' }, { amount_exact: '2', amount_micro: 2 })],
  ['member row-1: amount_micro 1 → 2', changeMember({ amount_micro: 1 }, { amount_micro: 2 })],
  ['member row-1: updated_at 1 → 2', changeMember({ updated_at: 1 }, { updated_at: 2 })],
  ['member row-1: name A → B', changeMember({ name: 'A' }, { name: 'B', updated_at: 2 })],
  [
    'member row-1: a nothing → 1, b nothing → true, c nothing → x',
    changeMember({}, { a: 1, b: true, c: 'x' }),
  ],
  [
    'member row-1: a nothing → 1, b nothing → 1, c nothing → 1 and 1 more',
    changeMember({}, { a: 1, b: 1, c: 1, d: 1 }),
  ],
  ['member row-1: a field without a column of its own', changeMember({}, { name: 'B', document: '{}' })],
])('a change is described as "%s"', (sentence, fields) => {
  expect(describeChange(createChange(fields))).toBe(sentence);
});

test.each<readonly [string, Partial<Change>]>([
  ['12:01 Acme (schedule)', {}],
  ['12:01 (sync 3)', { organization_name: null, trigger: null }],
  ['12:01 Acme (delivery 17)', { newest_delivery_id: 17 }],
])('changes of one sync have the heading "%s"', (heading, fields) => {
  expect(formatChangeHeading(createChange(fields))).toBe(heading);
});

test('a row of the view is parsed, and a large amount keeps all digits', () => {
  const row = { ...createChange({}), before: null, changed_columns: 'amount_micro,amount_exact' };
  expect(parseChange({ ...row, after: '{"amount_micro":9007199254740993000}' })).toMatchObject({
    before: null,
    after: { amount_micro: '9007199254740993000' },
    changed_columns: ['amount_micro', 'amount_exact'],
  });
  expect(parseChange({ ...row, after: '{"amount_micro":-15}', changed_columns: null })).toMatchObject({
    after: { amount_micro: -15 },
    changed_columns: null,
  });
});

test('changed columns are listed with both values, and a row without changed columns has none', () => {
  const change = changeMember({ name: 'A' }, { name: 'B', note: 'x', updated_at: 2 });
  expect(listChangedColumns(createChange(change))).toEqual([
    { name: 'name', before: 'A', after: 'B' },
    { name: 'note', before: null, after: 'x' },
  ]);
  expect(listChangedColumns(createChange({}))).toEqual([]);
});

test('sums count the changes and add tonnes gained and lost in each list and credit type', () => {
  const sums = createChangeSums();
  const rowOf = (tonnes: number) => ({ type: 'exPost', amount_micro: tonnes * 1_000_000 });
  sums.addChange(createChange({ change: 'added', after: rowOf(500) }));
  sums.addChange(createChange({ before: rowOf(500), after: rowOf(520) }));
  sums.addChange(createChange({ before: rowOf(520), after: rowOf(515) }));
  sums.addChange(createChange({ change: 'removed', before: rowOf(515) }));
  sums.addChange(createChange({ resource: 'inventory', after: { type: 'exAnte', amount_micro: '7000000' } }));
  sums.addChange(createChange({ resource: 'retirements', change: 'added', after: { amount_micro: null } }));
  sums.addChange(createChange({ resource: 'retirements', before: { amount_micro: null }, after: rowOf(1) }));
  sums.addChange(createChange({ resource: 'members', change: 'added', after: rowOf(9) }));
  expect(sums.formatLines()).toEqual([
    '8 changes: 3 added, 4 changed, 1 removed',
    'warehouse ex-post: +520 t, -520 t',
    'inventory ex-ante: +7 t, -0 t',
    'retirements: +0 t, -0 t; 1 without a usable amount',
    'retirements ex-post: +0 t, -0 t; 1 without a usable amount',
  ]);
});
