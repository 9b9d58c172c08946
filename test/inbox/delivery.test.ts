import { expect, test } from 'vitest';
import { DELIVERY_SLICE, describeFailure, toDeliverySlice } from '../../src/inbox/delivery.js';

test.each([
  [Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' }), 'SQLITE_FULL', 'disk full'],
  [new TypeError('no such thing'), 'TypeError', 'no such thing'],
  ['thrown as text', 'unknown', 'thrown as text'],
])('a failure is told by its code, or by its name: %s', (error, code, message) => {
  expect(describeFailure(error)).toEqual({ code, message });
});

test('a stretch goes on behind a slice that is full, and ends with one that is not', () => {
  const rows = Array.from({ length: DELIVERY_SLICE }, (_, index) => ({
    id: index + 1,
    installationId: 'an installation',
    receivedAt: `instant ${index + 1}`,
    verdict: 'accepted',
  }));
  const next = { from: `instant ${DELIVERY_SLICE}`, until: 'the end', above: DELIVERY_SLICE };
  expect(toDeliverySlice(rows, 'the end')).toMatchObject({ deliveries: { length: DELIVERY_SLICE }, next });
  expect(toDeliverySlice(rows.slice(1), 'the end').next).toBe(null);
  expect(toDeliverySlice([], 'the end')).toEqual({ deliveries: [], next: null });
});
