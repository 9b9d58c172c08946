import type { Reservation } from '../../registry/model.js';
import { hasReservationEnded } from '../../registry/reservation-state.js';

/** The registry ends a reservation by its own clock and sends no event: look a moment after. */
const AFTER_END_MS = 1000;
/** One that should be over and still is outstanding is looked at again, but not for ever. */
const AGAIN_MS = 5000;
const GIVE_UP_MS = 5 * 60_000;

/** When to read the reservations again, by the registry's clock; null where none is outstanding. */
export function nextReservationEnd(reservations: Iterable<Reservation>, registryNow: number): number | null {
  let next: number | null = null;
  for (const reservation of reservations) {
    const at = lookAt(reservation, registryNow);
    if (at !== null && (next === null || at < next)) next = at;
  }
  return next;
}

function lookAt(reservation: Reservation, registryNow: number): number | null {
  const { state, reservedToDate } = reservation;
  const endsAt = reservedToDate === null ? Number.NaN : Date.parse(reservedToDate);
  if (hasReservationEnded(reservation) || Number.isNaN(endsAt)) return null;
  if (endsAt + AFTER_END_MS > registryNow) return endsAt + AFTER_END_MS;
  if (state === null || registryNow - endsAt > GIVE_UP_MS) return null;
  return registryNow + AGAIN_MS;
}
