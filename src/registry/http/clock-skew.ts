import { parseHttpDate } from './response-headers.js';

export interface ClockSkewMeterOptions {
  readonly now: () => number;
  /** Called for each response whose Date header was read. */
  readonly onDate: ((serverMs: number, localMs: number, status: number) => void) | undefined;
}

/** Creates a meter of the clock skew: how far the registry's clock is ahead of this computer's. */
export function createClockSkewMeter({ now, onDate }: ClockSkewMeterOptions) {
  let skewMs: number | null = null;

  return {
    /**
     * Measures the clock skew by the Date header of a response, and reports the date to `onDate`. Ignores responses from a
     * cache.
     */
    measure(response: Response): void {
      const serverMs = parseHttpDate(response.headers.get('date'));
      // A response with an Age comes from a cache, and its date is when it was stored.
      const isCached = response.headers.has('age');
      if (serverMs === null || isCached) return;
      const localMs = now();
      skewMs = serverMs - localMs;
      onDate?.(serverMs, localMs, response.status);
    },
    /** Returns the last measured skew; null before the first one. */
    getMs: () => skewMs,
  };
}
