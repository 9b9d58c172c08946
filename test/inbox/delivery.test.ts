import { expect, test } from 'vitest';
import { DELIVERY_PAGE_SIZE, toStoreFailure, toDeliveryPage } from '../../src/inbox/delivery.js';

test.each([
  [Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' }), 'SQLITE_FULL', 'disk full'],
  [new TypeError('no such thing'), 'TypeError', 'no such thing'],
  ['thrown as text', 'unknown', 'thrown as text'],
])('a failure has the code of its error, or else its name: %s', (error, code, message) => {
  expect(toStoreFailure(error)).toEqual({ code, message });
});

test('a range continues after a full page and ends with a partial one', () => {
  const rows = Array.from({ length: DELIVERY_PAGE_SIZE }, (_, index) => ({
    id: index + 1,
    installationId: 'an installation',
    receivedAt: `instant ${index + 1}`,
    verdict: 'accepted',
  }));
  const next = { since: `instant ${DELIVERY_PAGE_SIZE}`, until: 'the end', afterId: DELIVERY_PAGE_SIZE };
  expect(toDeliveryPage(rows, 'the end')).toMatchObject({ deliveries: { length: DELIVERY_PAGE_SIZE }, next });
  expect(toDeliveryPage(rows.slice(1), 'the end').next).toBe(null);
  expect(toDeliveryPage([], 'the end')).toEqual({ deliveries: [], next: null });
});
