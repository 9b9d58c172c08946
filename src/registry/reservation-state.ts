import type { Reservation } from './model.js';

const OUTSTANDING = 'outstanding';

/** Whether the registry says that a reservation has ended, whatever its time is. */
export function isOver({ state, isComplete }: Pick<Reservation, 'state' | 'isComplete'>): boolean {
  return isComplete === true || (state !== null && state.toLowerCase() !== OUTSTANDING);
}

/**
 * The registry's own word where it sends one, in lower case, and kept if we do not know it.
 * A reservation whose time is over is `expired`, whatever its last word was. Null where nobody can say.
 */
export function reservationState(
  { state, isComplete, reservedToDate }: Pick<Reservation, 'state' | 'isComplete' | 'reservedToDate'>,
  registryNowMs: number,
): string | null {
  const sent = state?.toLowerCase() ?? null;
  if (isOver({ state, isComplete })) return sent === null || sent === OUTSTANDING ? 'finished' : sent;
  if (reservedToDate === null) return sent;
  return registryNowMs < Date.parse(reservedToDate) ? OUTSTANDING : 'expired';
}
