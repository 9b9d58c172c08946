/** Less than this needs no correction: the JWT's own margins cover it. */
export const SKEW_TOLERATED_MS = 2 * 60_000;

/** RFC 9110 asks every server for this form; anything else is ignored. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

export interface ClockOptions {
  readonly now: () => number;
  /** Called when the correction changes: what is now added to the local clock, in milliseconds. */
  readonly onCorrection?: (offsetMs: number) => void;
}

export interface Clock {
  /** Epoch milliseconds, corrected to the registry's time. */
  readonly now: () => number;
  readonly offsetMs: () => number;
  /** Takes the Date header of an answer that has just arrived. */
  readonly observe: (dateHeader: string | null) => void;
}

/** A local clock that is far from the registry's is corrected once, and again only when the gap has changed. */
export function createClock(options: ClockOptions): Clock {
  let offsetMs = 0;
  return {
    now: () => options.now() + offsetMs,
    offsetMs: () => offsetMs,
    observe: dateHeader => {
      const skewMs = measureSkew(dateHeader, options.now());
      if (skewMs === null || Math.abs(skewMs - offsetMs) <= SKEW_TOLERATED_MS) return;
      offsetMs = Math.abs(skewMs) <= SKEW_TOLERATED_MS ? 0 : skewMs;
      options.onCorrection?.(offsetMs);
    },
  };
}

function measureSkew(dateHeader: string | null, nowMs: number): number | null {
  if (dateHeader === null || !HTTP_DATE.test(dateHeader)) return null;
  const registryMs = Date.parse(dateHeader);
  return Number.isNaN(registryMs) ? null : registryMs - nowMs;
}
