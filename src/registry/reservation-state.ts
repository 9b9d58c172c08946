import type { Reservation } from './model.js';

const OUTSTANDING = 'outstanding';

/** Whether the registry says that a hold has ended, whatever its time is. */
export function isOver({ state, isComplete }: Pick<Reservation, 'state' | 'isComplete'>): boolean {
  return isComplete === true || (state !== null && state.toLowerCase() !== OUTSTANDING);
}

/**
 * The registry's own word where it sends one, in lower case, and kept if we do not know it.
 * A hold whose time is over is `expired`, whatever its last word was. Null where nothing can be told.
 */
export function reservationState(
  { state, isComplete, reservedToDate }: Pick<Reservation, 'state' | 'isComplete' | 'reservedToDate'>,
  registryNowMs: number,
): string | null {
  const said = state?.toLowerCase() ?? null;
  if (isOver({ state, isComplete })) return said === null || said === OUTSTANDING ? 'finished' : said;
  if (reservedToDate === null) return said;
  return registryNowMs < Date.parse(reservedToDate) ? OUTSTANDING : 'expired';
}
