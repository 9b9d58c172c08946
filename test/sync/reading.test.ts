import { expect, test } from 'vitest';
import { RegistryError } from '../../src/registry/errors.js';
import type { CallRecord } from '../../src/registry/http/http-types.js';
import { parseObject, type SourceObject } from '../../src/registry/json/json-object.js';
import { type ListResource, LISTS } from '../../src/resources/lists.js';
import { countCalls, inLanes } from '../../src/sync/read/calls.js';
import { SOURCES } from '../../src/sync/sources.js';

const CALL: CallRecord = { method: 'GET', route: '/x', status: 200, code: null, ms: 1, bytes: 10 };
const UNANSWERED: CallRecord = { ...CALL, status: null, bytes: 0 };
const asItIs = (text: string) => text;

function counted(...calls: CallRecord[]) {
  let at = 0;
  const counter = countCalls(new AbortController().signal, () => at);
  for (const call of calls) {
    at += 1;
    counter.options.onCall(call);
  }
  return counter;
}

test('a read counts each request, its bytes and when one was last answered', () => {
  expect(counted().traffic()).toEqual({ requests: 0, bytes: 0, lastAnswerAt: null });
  expect(counted(UNANSWERED).traffic()).toEqual({ requests: 1, bytes: 0, lastAnswerAt: null });
  expect(counted(CALL, CALL, UNANSWERED).traffic()).toEqual({ requests: 3, bytes: 20, lastAnswerAt: 2 });
});

test('what came of a read is told by its latest answer, and where none came there is nothing to tell', () => {
  expect(counted(UNANSWERED).goodAnswer('list')).toBeNull();
  expect(counted(CALL, UNANSWERED).goodAnswer('list')).toEqual({
    status: 200,
    form: 'list',
    at: 2,
    text: null,
  });
  const bad = new RegistryError('bad_answer', 'no JSON');
  const other = new RegistryError('other_form', 'a list', { answer: { form: 'list', text: '[1]' } });
  const refused = new RegistryError('forbidden', 'no', { status: 403 });
  const answers = [bad, other, refused, new RegistryError('timeout', 'late'), new Error('of ours')];
  expect(answers.map(error => counted(CALL).badAnswer(error, asItIs))).toEqual([
    { status: 200, form: 'unusable', at: 1, text: null },
    { status: 200, form: 'list', at: 1, text: '[1]' },
    { status: 403, form: 'none', at: 1, text: null },
    null,
    null,
  ]);
  expect([bad, other].map(error => counted(UNANSWERED).badAnswer(error, asItIs))).toEqual([null, null]);
});

test('what goes wrong with one of several at once is thrown when the others have ended', async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    await Promise.resolve();
    if (item === 1) throw new Error('one of them');
    ended.push(item);
  };
  await expect(inLanes(2, [0, 1, 2, 3], work)).rejects.toThrow('one of them');
  expect(ended).toEqual([0, 2, 3]);
  await inLanes(9, [4, 5], work);
  expect(ended).toEqual([0, 2, 3, 4, 5]);
});

test('a read names its owner only where each of its answers did', () => {
  const named = (...owners: (string | null)[]) => {
    const { options, ownerNamed } = counted();
    owners.forEach(options.onOwner);
    return ownerNamed();
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
] as const)(
  'the key of an unreadable row of %s is the key that the row has where it can be read: %s',
  (name, text) => {
    const row = parseObject(text, name);
    expect(SOURCES[name].keyOfUnreadable(row)).toEqual(keyIn(name, row));
    const nameless = parseObject(text.replaceAll(/"(id|creditId)":"[rcamq]/g, '"$1":"\\u0000'), name);
    expect(SOURCES[name].keyOfUnreadable(nameless)).toBeNull();
  },
);

function keyIn<Name extends ListResource>(name: Name, row: SourceObject): string[] {
  const item = SOURCES[name].parse(row);
  return LISTS[name].key.map(part => String(part.of(item)));
}
