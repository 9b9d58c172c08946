import { formatInstant } from '../resources/columns.js';

/** Computes the instant of a new version: when it was observed, or one millisecond after the previous version if that is later. */
export function computeVersionInstant(observedAt: string, previousInstant: string | null): string {
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

  /** Returns the later of two instants: the one passed, and the latest that any row has. */
  clampToLatest(instant: string): string {
    return instant > this.#latest ? instant : this.#latest;
  }

  /** Computes the instant of a row's new version, and remembers it if it is the latest so far. */
  assignInstant(observedAt: string, previousInstant: string | null): string {
    const instant = computeVersionInstant(observedAt, previousInstant);
    if (instant > this.#latest) this.#latest = instant;
    return instant;
  }
}
