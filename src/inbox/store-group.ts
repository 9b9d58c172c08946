import type { AcceptDeliveries, NewDelivery, StoredDelivery } from './deliveries.js';

export interface StoreFailure {
  /** SQLite's code where it gave one. */
  readonly code: string;
  readonly message: string;
}

export type StoreResult = StoredDelivery | { readonly failure: StoreFailure };

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

export function describeFailure(error: unknown): StoreFailure {
  if (!(error instanceof Error)) return { code: 'unknown', message: String(error) };
  return { code: 'code' in error ? String(error.code) : error.name, message: error.message };
}
