import { expect, test } from 'vitest';
import { getReservationState } from '../../src/registry/reservation-state.js';

const END = '2026-05-01T10:10:00.000Z';
const endMs = Date.parse(END);

test.each([
  ['outstanding until the last millisecond', { state: null, isComplete: false }, endMs - 1, 'outstanding'],
  ['expired from its end on', { state: null, isComplete: false }, endMs, 'expired'],
  ['finished, however late', { state: null, isComplete: true }, endMs + 1, 'finished'],
  ['as the registry says', { state: 'Cancelled', isComplete: false }, endMs - 1, 'cancelled'],
  ['a word that we do not know', { state: 'paused', isComplete: null }, endMs + 1, 'paused'],
  ['outstanding by an old word only', { state: 'outstanding', isComplete: false }, endMs, 'expired'],
])('a reservation is %s', (_name, said, nowMs, expected) => {
  expect(getReservationState({ ...said, reservedToDate: END }, nowMs)).toBe(expected);
});

test('the state of a reservation without state and time limit is null', () => {
  expect(getReservationState({ state: null, isComplete: null, reservedToDate: null }, 0)).toBeNull();
  expect(getReservationState({ state: 'outstanding', isComplete: null, reservedToDate: null }, 0)).toBe(
    'outstanding',
  );
});
