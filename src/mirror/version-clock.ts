import { formatInstant } from '../resources/columns.js';

/** Returns the instant of the observation, or one millisecond after the previous version if that is later. */
export function nextVersionInstant(observedAt: string, previousInstant: string | null): string {
  if (previousInstant === null || previousInstant < observedAt) return observedAt;
  return formatInstant(Date.parse(previousInstant) + 1);
}

/**
 * Assigns instants to the row versions that one sync writes. A version gets the instant of the registry's answer, but
 * never one at or before the row's previous version, even when the clock is set back.
 */
export class VersionClock {
  #latest: string;

  /** Starts from the latest instant that any row of the list has; null if it has no rows. */
  constructor(latestInstant: string | null) {
    this.#latest = latestInstant ?? '';
  }

  /** The latest instant assigned so far; null if no row has one. */
  get latest(): string | null {
    return this.#latest === '' ? null : this.#latest;
  }

  /** Returns the instant, or the latest instant of any row if that is later. */
  clampToLatest(instant: string): string {
    return instant > this.#latest ? instant : this.#latest;
  }

  /** Returns the instant of a row's new version and remembers the latest one assigned. */
  assignInstant(observedAt: string, previousInstant: string | null): string {
    const instant = nextVersionInstant(observedAt, previousInstant);
    if (instant > this.#latest) this.#latest = instant;
    return instant;
  }
}
