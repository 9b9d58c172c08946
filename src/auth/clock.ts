/**
 * Less than this needs no correction: the JWT's own margins cover it. Two minutes, and ten seconds
 * for a Date header that is cut to the second and has been on its way.
 */
export const SKEW_TOLERATED_MS = 2 * 60_000 + 10_000;

export interface ClockOptions {
  readonly now: () => number;
  /** Called when the correction changes: what is now added to the local clock, in milliseconds. */
  readonly onCorrection?: (offsetMs: number) => void;
}

export interface Clock {
  /** Epoch milliseconds, corrected to the registry's time. */
  readonly now: () => number;
  readonly offsetMs: () => number;
  /** Takes the time of an answer's Date header and the local time at which it arrived. */
  readonly observe: (registryMs: number, localMs: number) => void;
}

/** A local clock that is far from the registry's is corrected once, and again only when the gap has changed. */
export function createClock(options: ClockOptions): Clock {
  let offsetMs = 0;
  return {
    now: () => options.now() + offsetMs,
    offsetMs: () => offsetMs,
    observe: (registryMs, localMs) => {
      const skewMs = registryMs - localMs;
      if (!Number.isFinite(skewMs) || Math.abs(skewMs - offsetMs) <= SKEW_TOLERATED_MS) return;
      offsetMs = Math.abs(skewMs) <= SKEW_TOLERATED_MS ? 0 : skewMs;
      options.onCorrection?.(offsetMs);
    },
  };
}
