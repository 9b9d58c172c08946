import type { AcceptDeliveries } from './deliveries.js';
import { describeFailure, type NewDelivery, type StoreResult } from '../../../inbox/delivery.js';

/**
 * Store a group in one transaction; when that fails each delivery is tried alone, so that a bad row fails nobody else.
 * Not while a stranger holds the lock: each attempt would wait for it as long again.
 */
export function storeGroup(
  accept: AcceptDeliveries,
  deliveries: readonly NewDelivery[],
  now: number,
): StoreResult[] {
  try {
    return accept(deliveries, now);
  } catch (error) {
    const failure = describeFailure(error);
    if (deliveries.length === 1 || failure.code.startsWith('SQLITE_BUSY')) {
      return deliveries.map(() => ({ failure }));
    }
    return deliveries.flatMap(delivery => storeGroup(accept, [delivery], now));
  }
}
