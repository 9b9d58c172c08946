import { expect, test } from 'vitest';
import { RegistryError } from '../../src/registry/errors.js';
import type { CallRecord } from '../../src/registry/http/http-types.js';
import { createCallCounter } from '../../src/sync/read/call-counter.js';

const CALL: CallRecord = {
  method: 'GET',
  route: '/x',
  attempt: 1,
  status: 200,
  code: null,
  ms: 1,
  bytes: 10,
};
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
  const other = new RegistryError('other_form', 'a list', { answer: { shape: 'list', text: '[1]' } });
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

test('the owner counts as named only if every answer named it', () => {
  const named = (...owners: (string | null)[]) => {
    const { requestOptions, answersNameOrganization } = countCalls();
    owners.forEach(requestOptions.onOwner);
    return answersNameOrganization();
  };
  expect([named(), named(null), named('o-1', null), named(null, 'o-1')]).toEqual(Array(4).fill(false));
  expect([named('o-1'), named('o-1', 'o-1')]).toEqual([true, true]);
});
