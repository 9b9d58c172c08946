import { expect, test } from 'vitest';
import { parseObject, type SourceObject } from '../../src/registry/json/json-object.js';
import { parseInventoryRequest } from '../../src/registry/json/parse-objects.js';
import { type ListResource, LISTS } from '../../src/resources/lists.js';
import { SOURCES } from '../../src/sync/list-sources.js';

test.each([
  [null, true],
  ['pending', true],
  ['Accepted', false],
])('whether an inventory request in state %s is open: %s', (state, isOpen) => {
  const request = parseInventoryRequest(
    parseObject(JSON.stringify({ id: 'r1', creditId: 'c1', amount: 1, state }), 'request'),
  );
  expect(SOURCES.inventory_requests.isOpen?.(request)).toBe(isOpen);
});

test.each([
  ['warehouse', '{"id":"c/1","inventoryId":"i 1","amount":1}'],
  ['warehouse', '{"creditId":"c-1","amount":1}'],
  ['inventory', '{"id":"c-1","amount":1}'],
  ['reservations', '{"id":"r-1","creditId":"c-1","amount":1}'],
  ['inventory_requests', '{"id":"q-1","creditId":"c-1","amount":1}'],
  ['addresses', '{"id":"a-1","address":"0x1"}'],
  ['members', '{"id":"m-1","email":"ada@example.com"}'],
  ['retirements', '{"id":"r-1","amount":1}'],
] as const)('the key of an unreadable row of %s equals its key when readable: %s', (name, text) => {
  const row = parseObject(text, name);
  expect(SOURCES[name].readUnreadableKey(row)).toEqual(readKey(name, row));
  const nameless = parseObject(text.replaceAll(/"(id|creditId)":"[rcamq]/g, '"$1":"\\u0000'), name);
  expect(SOURCES[name].readUnreadableKey(nameless)).toBeNull();
});

function readKey<Name extends ListResource>(name: Name, row: SourceObject): string[] {
  const item = SOURCES[name].parse(row);
  return LISTS[name].key.map(part => String(part.getValue(item)));
}
