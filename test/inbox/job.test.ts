import { expect, test } from 'vitest';
import { findLowestAnsweredJobId, parseJobPayload, TRIGGERS } from '../../src/inbox/job.js';
import { isSameOrder } from '../../src/inbox/order.js';
import { createOrder, createRetireOrder } from '../support/orders.js';

test.each([
  ['{"lists":["warehouse"]}', { lists: ['warehouse'] }],
  ['[1]', {}],
  ['null', {}],
  ['"text"', {}],
])('the payload %s of a job is parsed, and is empty unless it is an object', (text, payload) => {
  expect(parseJobPayload(text)).toEqual(payload);
});

test('a job for a delivery answers all earlier deliveries, one for a person its own, and all others none', () => {
  const lowestIds = TRIGGERS.map(trigger => [trigger, findLowestAnsweredJobId({ id: 7, trigger })]);
  expect(Object.fromEntries(lowestIds)).toEqual({ delivery: 0, schedule: null, worker: null, person: 7 });
});

test('the reservation distinguishes two orders, except two that reserve', () => {
  const [reserve, retire] = [createOrder({ action: 'reserve' }), createRetireOrder('r-1')];
  expect(isSameOrder(reserve, { ...reserve, reservationId: 'r-2' })).toBe(true);
  expect(isSameOrder(retire, { ...retire, reservationId: 'r-2' })).toBe(false);
  expect(isSameOrder(retire, { ...retire, beneficiary: 'Another' })).toBe(false);
});
