import { conflict } from '../http/errors.js';
import type { HoldingPlace, HoldingRecord, ReservationRecord } from './records.js';
import { holdingGroupKey, type RegistryTables } from './tables.js';

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Adds credits to warehouses and inventories and removes them, and expires reservations.
 * A credit is always in exactly one of these: a warehouse, an inventory, an outstanding reservation, a retirement or a
 * queued transaction. After each operation their sum equals the amount that was issued.
 */
export function createAccounts({ holdings, reservations }: RegistryTables) {
  function getAmountMicro(organizationId: string, place: HoldingPlace, creditId: string): number {
    return holdings.get(`${holdingGroupKey(organizationId, place)} ${creditId}`)?.amountMicro ?? 0;
  }

  /** Adds an amount of a credit to a warehouse or inventory. */
  function add(organizationId: string, place: HoldingPlace, creditId: string, addedMicro: number): void {
    const amountMicro = getAmountMicro(organizationId, place, creditId) + addedMicro;
    holdings.put({ organizationId, place, creditId, amountMicro });
  }

  /** Throws 409 if the warehouse or inventory holds less than this amount of the credit. */
  function assertAvailable(
    organizationId: string,
    place: HoldingPlace,
    creditId: string,
    requiredMicro: number,
  ): void {
    if (getAmountMicro(organizationId, place, creditId) < requiredMicro)
      throw conflict(`The ${place} holds less of this credit than the requested amount`);
  }

  /** Removes an amount of a credit, or throws 409 if less is there. */
  function remove(organizationId: string, place: HoldingPlace, creditId: string, removedMicro: number): void {
    assertAvailable(organizationId, place, creditId, removedMicro);
    add(organizationId, place, creditId, -removedMicro);
  }

  /** Lists what a warehouse or inventory holds. Holdings that were emptied are left out. */
  function listHoldings(organizationId: string, place: HoldingPlace): HoldingRecord[] {
    const rows = holdings.list(holdingGroupKey(organizationId, place));
    return rows.filter(({ amountMicro }) => amountMicro > 0);
  }

  function listDueReservations(now: string): ReservationRecord[] {
    return reservations.listLive().filter(({ reservedToDate }) => reservedToDate <= now);
  }

  function hasDueReservations(now: string): boolean {
    return listDueReservations(now).length > 0;
  }

  /** Expires the reservations whose end has passed and returns their credits to the warehouse. */
  function expireDueReservations(now: string): void {
    for (const reservation of listDueReservations(now)) {
      add(reservation.organizationId, 'warehouse', reservation.creditId, reservation.amountMicro);
      reservations.put({ ...reservation, state: 'expired', updatedAt: reservation.reservedToDate });
    }
  }

  return { add, assertAvailable, remove, listHoldings, hasDueReservations, expireDueReservations };
}
