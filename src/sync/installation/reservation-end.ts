import type { Reservation } from '../../registry/object-models.js';
import { hasReservationEnded } from '../../registry/reservation-state.js';

/** The registry ends a reservation by its own clock and sends no event, so the list is read a moment after the end. */
const READ_AFTER_END_MS = 1000;
/** An overdue reservation that is still outstanding is read again at this interval, until we give up. */
const OVERDUE_INTERVAL_MS = 5000;
const GIVE_UP_MS = 5 * 60_000;

/** Returns when to read the reservations again to see whether one has ended, or null if never. */
export function findNextReservationEnd(
  reservations: Iterable<Reservation>,
  registryNow: number,
): number | null {
  let earliest: number | null = null;
  for (const reservation of reservations) {
    const readAt = findReadTime(reservation, registryNow);
    if (readAt !== null && (earliest === null || readAt < earliest)) earliest = readAt;
  }
  return earliest;
}

/** Returns when to read a reservation again to see whether it has ended, or null if never. */
function findReadTime(reservation: Reservation, registryNow: number): number | null {
  const { state, reservedToDate } = reservation;
  const endsAt = reservedToDate === null ? Number.NaN : Date.parse(reservedToDate);
  if (hasReservationEnded(reservation) || Number.isNaN(endsAt)) return null;
  if (endsAt + READ_AFTER_END_MS > registryNow) return endsAt + READ_AFTER_END_MS;
  if (state === null || registryNow - endsAt > GIVE_UP_MS) return null;
  return registryNow + OVERDUE_INTERVAL_MS;
}
