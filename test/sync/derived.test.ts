import { expect, test } from 'vitest';
import { parseObject } from '../../src/registry/json/json-object.js';
import { parseInventoryRequest } from '../../src/registry/json/parse-objects.js';
import { contradictedColumns } from '../../src/sync/derived.js';
import { SOURCES } from '../../src/sync/sources.js';

const INSTALLATION = { id: 'i1', appId: 'a1', createdAt: null, updatedAt: null };
const documentOf = (words: object) => JSON.stringify({ ...INSTALLATION, ...words });

test('a row is held against its document, in what the document says', () => {
  const row = {
    document: documentOf({ organizationId: 'o1' }),
    id: 'i1',
    app_id: 'a1',
    organization_id: 'o1',
  };
  expect(contradictedColumns('installations', row)).toEqual([]);
  expect(contradictedColumns('installations', { ...row, organization_id: 'o2' })).toEqual([
    'organization_id',
  ]);
  expect(contradictedColumns('installations', { ...row, document: documentOf({}) })).toEqual([]);
  expect(contradictedColumns('installations', { ...row, document: '[]' })).toEqual(['document']);
  expect(contradictedColumns('syncs', row)).toEqual([]);
});

test.each([
  [null, true],
  ['pending', true],
  ['Accepted', false],
])('a request whose state is %s is open: %s', (state, isOpen) => {
  const request = parseInventoryRequest(
    parseObject(JSON.stringify({ id: 'r1', creditId: 'c1', amount: 1, state }), 'request'),
  );
  expect(SOURCES.inventory_requests.isOpen?.(request)).toBe(isOpen);
});
