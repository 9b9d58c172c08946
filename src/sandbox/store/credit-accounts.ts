import { conflict } from '../http/api-errors.js';
import type { HoldingPlace, HoldingRecord, ReservationRecord } from './records.js';
import { getHoldingGroupKey, type RegistryTables } from './tables.js';

export type CreditAccounts = ReturnType<typeof createCreditAccounts>;

/** Creates the accounts that track how much of each credit every warehouse and inventory holds. */
export function createCreditAccounts({ holdings, reservations }: RegistryTables) {
  /** Returns how much of a credit a warehouse or inventory holds, in millionths of a tonne. */
  function getHeldMicro(organizationId: string, place: HoldingPlace, creditId: string): number {
    return holdings.get(`${getHoldingGroupKey(organizationId, place)} ${creditId}`)?.amountMicro ?? 0;
  }

  /** Adds an amount of a credit to a warehouse or inventory. */
  function addCredits(
    organizationId: string,
    place: HoldingPlace,
    creditId: string,
    addedMicro: number,
  ): void {
    const amountMicro = getHeldMicro(organizationId, place, creditId) + addedMicro;
    holdings.put({ organizationId, place, creditId, amountMicro });
  }

  /** Throws a 409 error if a warehouse or inventory holds less than the required amount of a credit. */
  function assertAvailable(
    organizationId: string,
    place: HoldingPlace,
    creditId: string,
    requiredMicro: number,
  ): void {
    if (getHeldMicro(organizationId, place, creditId) < requiredMicro)
      throw conflict(`The ${place} holds less of this credit than the requested amount`);
  }

  /** Removes an amount of a credit from a warehouse or inventory. Throws a 409 error if too little is left. */
  function removeCredits(
    organizationId: string,
    place: HoldingPlace,
    creditId: string,
    removedMicro: number,
  ): void {
    assertAvailable(organizationId, place, creditId, removedMicro);
    addCredits(organizationId, place, creditId, -removedMicro);
  }

  /** Lists the credits in a warehouse or inventory. Omits credits with an amount of 0. */
  function listHoldings(organizationId: string, place: HoldingPlace): HoldingRecord[] {
    const rows = holdings.list(getHoldingGroupKey(organizationId, place));
    return rows.filter(({ amountMicro }) => amountMicro > 0);
  }

  /** Lists the outstanding reservations whose expiry time has passed. */
  function listDueReservations(now: string): ReservationRecord[] {
    return reservations.listLive().filter(({ reservedToDate }) => reservedToDate <= now);
  }

  /** Returns whether there is an outstanding reservation whose expiry time has passed. */
  function hasDueReservations(now: string): boolean {
    return listDueReservations(now).length > 0;
  }

  /**
   * Expires all outstanding reservations whose expiry time is not after `now`, and returns their credits to the warehouse. If the sandbox
   * clock was just changed, pass the time that it showed before the change as `movedAt`: the reservations then get this time as their
   * expiry time.
   */
  function expireDueReservations(now: string, movedAt?: string): void {
    for (const reservation of listDueReservations(now)) {
      addCredits(reservation.organizationId, 'warehouse', reservation.creditId, reservation.amountMicro);
      const reservedToDate = movedAt ?? reservation.reservedToDate;
      reservations.put({ ...reservation, state: 'expired', reservedToDate, updatedAt: reservedToDate });
    }
  }

  // A credit is always in exactly one warehouse, inventory, outstanding reservation, retirement or queued transaction.
  // After each operation, the amounts in these places add up to the issued amount.
  return {
    addCredits,
    assertAvailable,
    removeCredits,
    listHoldings,
    hasDueReservations,
    expireDueReservations,
  };
}
