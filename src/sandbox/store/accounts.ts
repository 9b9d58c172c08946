import { conflict } from '../http/errors.js';
import type { Place } from './rows.js';
import { placeOf, type Tables } from './tables.js';

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Every credit stands in exactly one place: a warehouse, an inventory, a reservation, a retirement or a queued transaction.
 * What was issued equals the sum of all of them after each verb.
 */
export function createAccounts({ holdings, reservations }: Tables) {
  function amountOf(organizationId: string, place: Place, creditId: string): number {
    return holdings.get(`${placeOf(organizationId, place)} ${creditId}`)?.amountMicro ?? 0;
  }

  function give(organizationId: string, place: Place, creditId: string, micro: number): void {
    const amountMicro = amountOf(organizationId, place, creditId) + micro;
    holdings.put({ organizationId, place, creditId, amountMicro });
  }

  function demand(organizationId: string, place: Place, creditId: string, micro: number): void {
    if (amountOf(organizationId, place, creditId) < micro)
      throw conflict(`The ${place} holds less of this credit than the amount asked for`);
  }

  function expired(now: string) {
    return reservations.live().filter(({ reservedToDate }) => reservedToDate <= now);
  }

  return {
    /** Where all of it was taken there is nothing. */
    held: (organizationId: string, place: Place) =>
      holdings.rows(placeOf(organizationId, place)).filter(({ amountMicro }) => amountMicro > 0),
    give,
    /** Refuses where less is there. */
    demand,
    take(organizationId: string, place: Place, creditId: string, micro: number): void {
      demand(organizationId, place, creditId, micro);
      give(organizationId, place, creditId, -micro);
    },
    hasExpiredReservations: (now: string) => expired(now).length > 0,
    /** Ends the reservations whose time has come and gives their credits back to the warehouse. */
    endExpiredReservations(now: string): void {
      for (const reservation of expired(now)) {
        give(reservation.organizationId, 'warehouse', reservation.creditId, reservation.amountMicro);
        reservations.put({ ...reservation, state: 'expired', updatedAt: reservation.reservedToDate });
      }
    },
  };
}
