import type { Reservation } from './model.js';

/**
 * The registry's own word where it sends one, in lower case, and kept if we do not know it.
 * A hold whose time is over is `expired`, whatever its last word was. Null where nothing can be told.
 */
export function reservationState(
  { state, isComplete, reservedToDate }: Pick<Reservation, 'state' | 'isComplete' | 'reservedToDate'>,
  registryNowMs: number,
): string | null {
  const said = state?.toLowerCase() ?? null;
  if (said !== null && said !== 'outstanding') return said;
  if (isComplete === true) return 'finished';
  if (reservedToDate === null) return said;
  return registryNowMs < Date.parse(reservedToDate) ? 'outstanding' : 'expired';
}
