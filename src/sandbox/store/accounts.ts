import { conflict } from '../http/errors.js';
import type { HoldingPlace, HoldingRecord, ReservationRecord } from './records.js';
import { getHoldingGroupKey, type RegistryTables } from './tables.js';

export type CreditAccounts = ReturnType<typeof createCreditAccounts>;

/**
 * Creates the accounts of all warehouses and inventories: adds and removes credits, and expires reservations. A credit
 * is always in exactly one of these: a warehouse, an inventory, an outstanding reservation, a retirement or a queued
 * transaction. After each operation their sum equals the issued amount.
 */
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

  /** Throws status 409 if the warehouse or inventory holds less than this amount of the credit. */
  function assertAvailable(
    organizationId: string,
    place: HoldingPlace,
    creditId: string,
    requiredMicro: number,
  ): void {
    if (getHeldMicro(organizationId, place, creditId) < requiredMicro)
      throw conflict(`The ${place} holds less of this credit than the requested amount`);
  }

  /** Removes an amount of a credit from a warehouse or inventory. Throws status 409 if it holds less. */
  function removeCredits(
    organizationId: string,
    place: HoldingPlace,
    creditId: string,
    removedMicro: number,
  ): void {
    assertAvailable(organizationId, place, creditId, removedMicro);
    addCredits(organizationId, place, creditId, -removedMicro);
  }

  /** Lists what a warehouse or inventory holds, without emptied holdings. */
  function listHoldings(organizationId: string, place: HoldingPlace): HoldingRecord[] {
    const rows = holdings.list(getHoldingGroupKey(organizationId, place));
    return rows.filter(({ amountMicro }) => amountMicro > 0);
  }

  function listDueReservations(now: string): ReservationRecord[] {
    return reservations.listLive().filter(({ reservedToDate }) => reservedToDate <= now);
  }

  function hasDueReservations(now: string): boolean {
    return listDueReservations(now).length > 0;
  }

  /** Expires the reservations whose time has passed, and returns their credits to the warehouse. */
  function expireDueReservations(now: string): void {
    for (const reservation of listDueReservations(now)) {
      addCredits(reservation.organizationId, 'warehouse', reservation.creditId, reservation.amountMicro);
      reservations.put({ ...reservation, state: 'expired', updatedAt: reservation.reservedToDate });
    }
  }

  return {
    addCredits,
    assertAvailable,
    removeCredits,
    listHoldings,
    hasDueReservations,
    expireDueReservations,
  };
}
