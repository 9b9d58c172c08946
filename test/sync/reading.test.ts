import { expect, test } from 'vitest';
import { RegistryError } from '../../src/registry/errors.js';
import type { CallRecord } from '../../src/registry/http/calls.js';
import { readSource, type Source } from '../../src/registry/json/fields.js';
import { type ListResource, LISTS } from '../../src/resources/lists.js';
import { createCallCounter } from '../../src/sync/read/call-counter.js';
import { forEachConcurrently } from '../../src/sync/read/concurrency.js';
import { SOURCES } from '../../src/sync/sources.js';

const CALL: CallRecord = { method: 'GET', route: '/x', status: 200, code: null, ms: 1, bytes: 10 };
const UNANSWERED: CallRecord = { ...CALL, status: null, bytes: 0 };
const keepText = (text: string) => text;

function countCalls(...calls: CallRecord[]) {
  let at = 0;
  const counter = createCallCounter(new AbortController().signal, () => at);
  for (const call of calls) {
    at += 1;
    counter.requestOptions.onCall(call);
  }
  return counter;
}

test('the call counter counts requests and bytes, and records when the last answer arrived', () => {
  expect(countCalls().getTraffic()).toEqual({ requests: 0, bytes: 0, lastAnswerAt: null });
  expect(countCalls(UNANSWERED).getTraffic()).toEqual({ requests: 1, bytes: 0, lastAnswerAt: null });
  expect(countCalls(CALL, CALL, UNANSWERED).getTraffic()).toEqual({
    requests: 3,
    bytes: 20,
    lastAnswerAt: 2,
  });
});

test('a read is described by its last answer; without an answer the description is null', () => {
  expect(countCalls(UNANSWERED).describeGoodAnswer('list')).toBeNull();
  expect(countCalls(CALL, UNANSWERED).describeGoodAnswer('list')).toEqual({
    status: 200,
    form: 'list',
    at: 2,
    text: null,
  });
  const bad = new RegistryError('bad_answer', 'no JSON');
  const other = new RegistryError('other_form', 'a list', { answer: { form: 'list', text: '[1]' } });
  const refused = new RegistryError('forbidden', 'no', { status: 403 });
  const answers = [bad, other, refused, new RegistryError('timeout', 'late'), new Error('of ours')];
  expect(answers.map(error => countCalls(CALL).describeBadAnswer(error, keepText))).toEqual([
    { status: 200, form: 'unusable', at: 1, text: null },
    { status: 200, form: 'list', at: 1, text: '[1]' },
    { status: 403, form: 'none', at: 1, text: null },
    null,
    null,
  ]);
  expect([bad, other].map(error => countCalls(UNANSWERED).describeBadAnswer(error, keepText))).toEqual([
    null,
    null,
  ]);
});

test('an error in one lane is thrown after the other lanes have ended', async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    await Promise.resolve();
    if (item === 1) throw new Error('one of them');
    ended.push(item);
  };
  await expect(forEachConcurrently(2, [0, 1, 2, 3], work)).rejects.toThrow('one of them');
  expect(ended).toEqual([0, 2, 3]);
  await forEachConcurrently(9, [4, 5], work);
  expect(ended).toEqual([0, 2, 3, 4, 5]);
});

test('the owner counts as named only if every answer named it', () => {
  const named = (...owners: (string | null)[]) => {
    const { requestOptions, isOwnerNamed } = countCalls();
    owners.forEach(requestOptions.onOwner);
    return isOwnerNamed();
  };
  expect([named(), named(null), named('o-1', null), named(null, 'o-1')]).toEqual(Array(4).fill(false));
  expect([named('o-1'), named('o-1', 'o-1')]).toEqual([true, true]);
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
  const row = readSource(text, name);
  expect(SOURCES[name].readUnreadableKey(row)).toEqual(readKey(name, row));
  const nameless = readSource(text.replaceAll(/"(id|creditId)":"[rcamq]/g, '"$1":"\\u0000'), name);
  expect(SOURCES[name].readUnreadableKey(nameless)).toBeNull();
});

function readKey<Name extends ListResource>(name: Name, row: Source): string[] {
  const item = SOURCES[name].parse(row);
  return LISTS[name].key.map(part => String(part.of(item)));
}
