/**
 * A smaller skew needs no correction, because the margins of a JWT cover it: two minutes, and ten seconds for a Date header
 * that is rounded down to the second and was delayed on its way.
 */
export const MAX_UNCORRECTED_SKEW_MS = 2 * 60_000 + 10_000;
/**
 * A larger skew is not corrected. Otherwise an attacker who sets the Date header could obtain JWTs that are valid in any
 * year.
 */
const MAX_CORRECTION_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** The status of a response and when it was sent and received, in epoch milliseconds. */
interface DatedResponse {
  readonly status: number;
  /** When the registry sent the response, by its Date header. */
  readonly registryMs: number;
  /** When the response arrived, by the local clock. */
  readonly localMs: number;
}

export interface RegistryClockOptions {
  readonly now: () => number;
  /** Called when the correction changes, with the milliseconds that are now added to the local clock. */
  readonly onCorrection?: (offsetMs: number) => void;
  /**
   * Called at most once an hour, when clock skew would explain a refused JWT but is too large or too soon to be
   * corrected.
   */
  readonly onRefusal?: (skewMs: number) => void;
}

/** Creates a clock that follows the registry's time once a 401 response shows that the local clock is wrong. */
export function createRegistryClock({ now, onCorrection, onRefusal }: RegistryClockOptions) {
  let offsetMs = 0;
  let correctedAt = Number.NEGATIVE_INFINITY;
  let refusalReportedAt = Number.NEGATIVE_INFINITY;

  /** Sets how many milliseconds are added to the local clock, and reports them to `onCorrection`. */
  function setOffset(newOffsetMs: number): void {
    offsetMs = newOffsetMs;
    onCorrection?.(offsetMs);
  }

  return {
    /** Returns epoch milliseconds, corrected to the registry's clock. */
    now: () => now() + offsetMs,
    offsetMs: () => offsetMs,
    /** Corrects the clock if the response is a 401 that a wrong clock can explain. */
    observeResponse: ({ status, registryMs, localMs }: DatedResponse): void => {
      const skewMs = registryMs - localMs;
      const explainsRefusal = Math.abs(skewMs - offsetMs) > MAX_UNCORRECTED_SKEW_MS;
      if (status !== 401 || !Number.isFinite(skewMs) || !explainsRefusal) return;
      if (Math.abs(skewMs) <= MAX_UNCORRECTED_SKEW_MS) return setOffset(0);
      if (Math.abs(skewMs) <= MAX_CORRECTION_MS && areAnHourApart(correctedAt, localMs)) {
        correctedAt = localMs;
        return setOffset(skewMs);
      }
      if (!areAnHourApart(refusalReportedAt, localMs)) return;
      refusalReportedAt = localMs;
      onRefusal?.(skewMs);
    },
  };
}

/** Whether two times differ by at least an hour, in either direction. */
function areAnHourApart(previousMs: number, nowMs: number): boolean {
  // The local clock may have stepped back.
  return Math.abs(nowMs - previousMs) >= HOUR_MS;
}
