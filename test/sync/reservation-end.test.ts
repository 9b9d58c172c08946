import { expect, test } from 'vitest';
import type { Reservation } from '../../src/registry/model.js';
import { findNextReservationEnd } from '../../src/sync/installation/reservation-end.js';
import { NOON } from '../support/inbox.js';

const SECOND_MS = 1000;

function reservation(endsInMs: number, words: Partial<Reservation> = {}): Reservation {
  return {
    id: 'r1',
    creditId: 'c1',
    serialization: null,
    type: null,
    amount: { exact: '1', value: 1, micro: 1_000_000n, fault: null },
    project: null,
    reserverId: null,
    reserverName: null,
    state: 'outstanding',
    isComplete: false,
    reservedToDate: new Date(NOON + endsInMs).toISOString(),
    createdAt: null,
    updatedAt: null,
    document: '{}',
    ...words,
  };
}

test('a hold is looked at just after it ends, the earliest first', () => {
  expect(findNextReservationEnd([reservation(60 * SECOND_MS), reservation(30 * SECOND_MS)], NOON)).toBe(
    NOON + 31 * SECOND_MS,
  );
});

test('finished, cancelled and expired ones ask for nothing', () => {
  const over = ['finished', 'Cancelled', 'expired', 'a_new_word'].map(state =>
    reservation(60_000, { state }),
  );
  expect(findNextReservationEnd([...over, reservation(60_000, { isComplete: true })], NOON)).toBeNull();
  expect(findNextReservationEnd([reservation(60_000, { reservedToDate: null })], NOON)).toBeNull();
});

test('where the registry sends no state, only the time counts', () => {
  expect(findNextReservationEnd([reservation(60_000, { state: null })], NOON)).toBe(NOON + 61_000);
  expect(findNextReservationEnd([reservation(-2000, { state: null })], NOON)).toBeNull();
});

test('one that is overdue and still said to be outstanding is looked at again, for a while', () => {
  expect(findNextReservationEnd([reservation(-2000)], NOON)).toBe(NOON + 5000);
  expect(findNextReservationEnd([reservation(-301_000)], NOON)).toBeNull();
});
