import { expect, test } from 'vitest';
import type { Epoch, Hold, Subscription } from '../../src/events/port.js';
import { hasWork, isUnreachable, listDueHolds } from '../../src/events/send/subscriber-state.js';

const ELEVEN = '2026-05-04T11:00:00.000Z';
const NOON = '2026-05-04T12:00:00.000Z';
const ONE = '2026-05-04T13:00:00.000Z';

function createHold(organizationId: string, overrides: Partial<Hold> = {}): Hold {
  return {
    subscription_id: 'sub_1',
    organization_id: organizationId,
    state: 'waiting',
    change_position: 0,
    occurrence_position: 0,
    refused_stream: 'change',
    refused_number: 1,
    refused_type: 'credit.changed',
    attempts: 1,
    failing_since: NOON,
    failed_at: NOON,
    next_attempt_at: NOON,
    status: 500,
    error: 'refused',
    ...overrides,
  };
}

const SUBSCRIPTION: Subscription = {
  id: 'sub_1',
  url: 'https://example.org',
  events: '[]',
  created_at: ELEVEN,
  key_check: '',
  epoch: 'e1',
  change_cursor: 5,
  occurrence_cursor: 2,
  state: 'active',
  pause_reason: null,
  generation: 1,
  previous_until: null,
  claim: 1,
  claimed_until: null,
  delivered: 0,
  refused: 0,
  delivered_at: ELEVEN,
};
const EPOCH: Epoch = {
  epoch: 'e1',
  began_at: ELEVEN,
  reason: 'created',
  newest_change: 0,
  newest_occurrence: 2,
  evaluated_at: null,
};
const THREE = ['a', 'b', 'c'].map(id => createHold(id));

test.each([
  ['no organization failed', false, [], null],
  ['two organizations failed', false, THREE.slice(1), null],
  ['three organizations failed', true, THREE, null],
  ['three failed since the last delivery', true, THREE, ELEVEN],
  ['three failed at the instant of the last delivery', true, THREE, NOON],
  ['three failed before the last delivery', false, THREE, ONE],
])('if %s, a subscriber counts as unreachable: %s', (_, expected, holds, deliveredAt) => {
  expect(isUnreachable({ holds, deliveredAt })).toBe(expected);
});

test('due holds are those that wait and whose next attempt has come, the oldest first', () => {
  const holds = [
    createHold('late', { next_attempt_at: ONE }),
    createHold('now'),
    createHold('first', { next_attempt_at: ELEVEN }),
    createHold('paused', { state: 'paused' }),
  ];
  const list = (deliveredAt: string | null) =>
    listDueHolds({ holds, deliveredAt }, NOON).map(({ organization_id: id }) => id);
  expect(list(ONE)).toEqual(['first', 'now']);
  expect(list(null)).toEqual(['first']);
});

const waitingEpoch = (at: string) => [createHold('*', { refused_stream: 'epoch', next_attempt_at: at })];

test.each<[string, boolean, Partial<Subscription>, readonly Hold[], number]>([
  ['everything was sent', false, {}, [], 5],
  ['there is a newer change', true, {}, [], 6],
  ['the cursor is after the newest change', true, {}, [], 4],
  ['there is a newer occurrence', true, { occurrence_cursor: 1 }, [], 5],
  ['it is paused', false, { state: 'paused' }, [], 6],
  ['a held organization is due', true, {}, [createHold('a')], 5],
  ['a held organization is not due', false, {}, [createHold('a', { next_attempt_at: ONE })], 5],
  ['it is unreachable and none is due', false, {}, THREE.map(hold => ({ ...hold, next_attempt_at: ONE })), 6],
  ['the epoch is new', true, { epoch: 'e0' }, [], 5],
  ['the epoch was refused and is due again', true, { epoch: 'e0' }, waitingEpoch(NOON), 5],
  ['the epoch was refused and is not due', false, { epoch: 'e0' }, waitingEpoch(ONE), 6],
])('if %s, a subscription has work: %s', (_, expected, overrides, holds, newestChange) => {
  expect(hasWork({ ...SUBSCRIPTION, ...overrides }, holds, { epoch: EPOCH, newestChange }, NOON)).toBe(
    expected,
  );
});
