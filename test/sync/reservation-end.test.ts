import { expect, test } from 'vitest';
import type { Reservation } from '../../src/registry/object-models.js';
import { findNextReservationEnd } from '../../src/sync/installation/reservation-end.js';
import { NOON } from '../support/inbox.js';

const SECOND_MS = 1000;

function createReservation(endsInMs: number, fields: Partial<Reservation> = {}): Reservation {
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
    ...fields,
  };
}

test('reservations are read just after the earliest end', () => {
  expect(
    findNextReservationEnd([createReservation(60 * SECOND_MS), createReservation(30 * SECOND_MS)], NOON),
  ).toBe(NOON + 31 * SECOND_MS);
});

test('finished, cancelled and expired reservations need no read', () => {
  const ended = ['finished', 'Cancelled', 'expired', 'a_new_word'].map(state =>
    createReservation(60_000, { state }),
  );
  expect(
    findNextReservationEnd([...ended, createReservation(60_000, { isComplete: true })], NOON),
  ).toBeNull();
  expect(findNextReservationEnd([createReservation(60_000, { reservedToDate: null })], NOON)).toBeNull();
});

test('without a state only the end time counts', () => {
  expect(findNextReservationEnd([createReservation(60_000, { state: null })], NOON)).toBe(NOON + 61_000);
  expect(findNextReservationEnd([createReservation(-2000, { state: null })], NOON)).toBeNull();
});

test('an overdue reservation that is still outstanding is read again for a while', () => {
  expect(findNextReservationEnd([createReservation(-2000)], NOON)).toBe(NOON + 5000);
  expect(findNextReservationEnd([createReservation(-301_000)], NOON)).toBeNull();
});
