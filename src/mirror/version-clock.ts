import { formatInstant } from '../resources/sql-values.js';

/**
 * Returns the instant at which a row version starts: `observedAt`, or one millisecond after `previousInstant` if `observedAt` is not later
 * than `previousInstant`. `previousInstant` is the start of the previous version, or its end if the row was removed since. Null means that
 * there is no previous version.
 */
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

  /** Returns `instant`, or the latest instant of any row if that is later. */
  clampToLatest(instant: string): string {
    return instant > this.#latest ? instant : this.#latest;
  }

  /**
   * Returns the instant at which a new row version starts, as computed by `computeVersionInstant`: `observedAt`, or one millisecond after
   * `previousInstant` if `observedAt` is not later. Sets `latest` to the returned instant if that is later than `latest`.
   */
  assignInstant(observedAt: string, previousInstant: string | null): string {
    const instant = computeVersionInstant(observedAt, previousInstant);
    if (instant > this.#latest) this.#latest = instant;
    return instant;
  }
}
