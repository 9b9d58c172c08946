import type { Reservation } from './model.js';

const OUTSTANDING = 'outstanding';

/** Whether the registry reports that a reservation has ended. Its time limit is not considered. */
export function hasReservationEnded({
  state,
  isComplete,
}: Pick<Reservation, 'state' | 'isComplete'>): boolean {
  return isComplete === true || (state !== null && state.toLowerCase() !== OUTSTANDING);
}

/**
 * Returns the state of a reservation at an instant of the registry's clock: `outstanding`, `finished`, `expired`, or the
 * state that the registry sent, in lower case, even if it is unknown here. Null if neither state nor time limit is
 * known.
 */
export function getReservationState(
  { state, isComplete, reservedToDate }: Pick<Reservation, 'state' | 'isComplete' | 'reservedToDate'>,
  registryNowMs: number,
): string | null {
  const sentState = state?.toLowerCase() ?? null;
  if (hasReservationEnded({ state, isComplete }))
    return sentState === null || sentState === OUTSTANDING ? 'finished' : sentState;
  if (reservedToDate === null) return sentState;
  return registryNowMs < Date.parse(reservedToDate) ? OUTSTANDING : 'expired';
}
