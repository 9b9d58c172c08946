const MICRO_PER_TONNE = 1_000_000;
const MAX_TONNES = 1_000_000_000;

/** The largest amount of a credit that may be issued, so that every amount is exact as a JavaScript number. */
export const MAX_MICRO = MAX_TONNES * MICRO_PER_TONNE;

/** Converts tonnes to millionths of a tonne: 1.5 → 1,500,000. Returns undefined for an invalid amount. */
export function toMicro(tonnes: unknown): number | undefined {
  if (typeof tonnes !== 'number' || !Number.isFinite(tonnes)) return undefined;
  if (tonnes <= 0 || tonnes > MAX_TONNES) return undefined;
  const micro = Math.round(tonnes * MICRO_PER_TONNE);
  return micro > 0 && micro / MICRO_PER_TONNE === tonnes ? micro : undefined;
}

/** Converts millionths of a tonne to tonnes: `toTonnes(1_500_000)` → 1.5. */
export function toTonnes(micro: number): number {
  return micro / MICRO_PER_TONNE;
}

/** Describes a valid amount in error messages. */
export const AMOUNT_RULE = 'a number above 0 with at most 6 decimals, at most 1000000000';
