/**
 * Less than this needs no correction: the JWT's own margins cover it. Two minutes, and ten seconds
 * for a Date header that is cut to the second and has been on its way.
 */
export const SKEW_TOLERATED_MS = 2 * 60_000 + 10_000;
/** A clock that is wrong by more is not guessed at: whoever sets the Date header could have JWTs signed for any year. */
const CORRECTED_AT_MOST_MS = 24 * 3_600_000;
const CORRECTED_EVERY_MS = 3_600_000;

/** What an answer told of the time. Instants are epoch milliseconds. */
interface DatedAnswer {
  readonly status: number;
  readonly registryMs: number;
  /** When it arrived, by the local clock. */
  readonly localMs: number;
}

export interface ClockOptions {
  readonly now: () => number;
  /** Called when the correction changes: what is now added to the local clock, in milliseconds. */
  readonly onCorrection?: (offsetMs: number) => void;
  /** Called where a refused JWT asks for a correction that is not made; once an hour at most. */
  readonly onRefusal?: (skewMs: number) => void;
}

/**
 * A local clock that is far from the registry's is corrected, but only after a 401 that it would explain,
 * by a day at most and once an hour. Back to the local clock is always allowed.
 */
export function createClock({ now, onCorrection, onRefusal }: ClockOptions) {
  let offsetMs = 0;
  let correctedAt = Number.NEGATIVE_INFINITY;
  let refusedAt = Number.NEGATIVE_INFINITY;

  function correct(newOffsetMs: number): void {
    offsetMs = newOffsetMs;
    onCorrection?.(offsetMs);
  }

  return {
    /** Epoch milliseconds, corrected to the registry's time. */
    now: () => now() + offsetMs,
    offsetMs: () => offsetMs,
    observe: ({ status, registryMs, localMs }: DatedAnswer): void => {
      const skewMs = registryMs - localMs;
      const explains = Math.abs(skewMs - offsetMs) > SKEW_TOLERATED_MS;
      if (status !== 401 || !Number.isFinite(skewMs) || !explains) return;
      if (Math.abs(skewMs) <= SKEW_TOLERATED_MS) return correct(0);
      if (Math.abs(skewMs) <= CORRECTED_AT_MOST_MS && isAnHourSince(correctedAt, localMs)) {
        correctedAt = localMs;
        return correct(skewMs);
      }
      if (!isAnHourSince(refusedAt, localMs)) return;
      refusedAt = localMs;
      onRefusal?.(skewMs);
    },
  };
}

function isAnHourSince(before: number, now: number): boolean {
  return Math.abs(now - before) >= CORRECTED_EVERY_MS;
}
