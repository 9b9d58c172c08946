import { randomUUID } from 'node:crypto';
import type { NewOrder } from '../../src/inbox/order.js';

/** Creates an order to reserve 2.5 t. */
export function createOrder(overrides: Partial<NewOrder> = {}): NewOrder {
  return {
    key: randomUUID(),
    actor: 'dana@example.com',
    action: 'reserve',
    organizationId: 'organization-1',
    creditId: 'c-1',
    amount: '2.5',
    reservationId: null,
    receiverId: null,
    beneficiary: null,
    reason: null,
    comment: null,
    ...overrides,
  };
}

/** Creates an order to retire the credits of a reservation. */
export function createRetireOrder(reservationId: string, overrides: Partial<NewOrder> = {}): NewOrder {
  return createOrder({
    action: 'retire',
    reservationId,
    beneficiary: 'Harbour Ferries',
    reason: 'Voluntary purposes',
    ...overrides,
  });
}
