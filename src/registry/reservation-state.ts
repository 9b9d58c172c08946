import type { Reservation, ReservationState } from './object-models.js';

const OUTSTANDING = 'outstanding';

/** Whether the registry reports that a reservation has ended. Ignores the reservation's time limit. */
export function hasReservationEnded({
  state,
  isComplete,
}: Pick<Reservation, 'state' | 'isComplete'>): boolean {
  return isComplete === true || (state !== null && state.toLowerCase() !== OUTSTANDING);
}

/**
 * Returns the state of a reservation at a given time, such as `expired` after its time limit. Returns null if the state is
 * unknown.
 */
export function getReservationState(
  { state, isComplete, reservedToDate }: Pick<Reservation, 'state' | 'isComplete' | 'reservedToDate'>,
  registryNowMs: number,
): ReservationState | null {
  const sentState = state?.toLowerCase() ?? null;
  if (hasReservationEnded({ state, isComplete }))
    return sentState === null || sentState === OUTSTANDING ? 'finished' : sentState;
  if (reservedToDate === null) return sentState;
  return registryNowMs < Date.parse(reservedToDate) ? OUTSTANDING : 'expired';
}
