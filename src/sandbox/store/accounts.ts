import { conflict } from '../http/errors.js';
import type { HoldingRow, Place, ReservationRow } from './rows.js';
import type { Table } from './table.js';

/**
 * Every credit stands in exactly one place: a warehouse, an inventory, a hold, a retirement or a queued transaction.
 * What was issued equals the sum of all of them after each verb.
 */
export interface Accounts {
  give(organizationId: string, place: Place, creditId: string, micro: number): void;
  /** Refuses where less is there. */
  take(organizationId: string, place: Place, creditId: string, micro: number): void;
  amountOf(organizationId: string, place: Place, creditId: string): number;
  hasExpiredHolds(now: string): boolean;
  /** Ends the holds whose time has come and gives their credits back to the warehouse. */
  endExpiredHolds(now: string): void;
}

interface Held {
  readonly holdings: {
    get(organizationId: string, place: Place, creditId: string): HoldingRow | undefined;
    put(row: HoldingRow): void;
  };
  readonly reservations: Table<ReservationRow>;
}

export function createAccounts({ holdings, reservations }: Held): Accounts {
  function amountOf(organizationId: string, place: Place, creditId: string): number {
    return holdings.get(organizationId, place, creditId)?.amount_micro ?? 0;
  }

  function give(organization_id: string, place: Place, credit_id: string, micro: number): void {
    const amount_micro = amountOf(organization_id, place, credit_id) + micro;
    holdings.put({ organization_id, place, credit_id, amount_micro });
  }

  function expired(now: string) {
    return reservations.live().filter(({ reserved_to_at }) => reserved_to_at <= now);
  }

  return {
    give,
    take(organizationId, place, creditId, micro) {
      if (amountOf(organizationId, place, creditId) < micro)
        throw conflict(`The ${place} holds less of this credit than the amount asked for`);
      give(organizationId, place, creditId, -micro);
    },
    amountOf,
    hasExpiredHolds: now => expired(now).length > 0,
    endExpiredHolds(now) {
      for (const hold of expired(now)) {
        give(hold.organization_id, 'warehouse', hold.credit_id, hold.amount_micro);
        reservations.put({ ...hold, state: 'expired', updated_at: hold.reserved_to_at });
      }
    },
  };
}
