import { formatInstant } from '../resources/columns.js';

/** The instant at which an answer came, unless the row has that one or a later one already: then the next. */
export function following(observedAt: string, before: string | null): string {
  return before === null || before < observedAt ? observedAt : formatInstant(Date.parse(before) + 1);
}

/** The instants that one sync gives to rows: those of the answers, strictly rising for each row whatever the clock does. */
export class Dates {
  readonly #known: string;
  #latest: string;

  /** `known`: the latest instant that any row had before the sync. `latest`: the latest that any has by now. */
  constructor(known: string | null, latest: string | null) {
    this.#known = known ?? '';
    this.#latest = latest ?? this.#known;
  }

  get latest(): string | null {
    return this.#latest === '' ? null : this.#latest;
  }

  /** Whether no row had this instant or a later one before the sync, so that none need be asked for its own. */
  isAfterAll(observedAt: string): boolean {
    return observedAt > this.#known;
  }

  /** The instant, or the latest that any row has where that is later. */
  notBefore(at: string): string {
    return at > this.#latest ? at : this.#latest;
  }

  give(observedAt: string, before: string | null): string {
    const at = following(observedAt, before);
    if (at > this.#latest) this.#latest = at;
    return at;
  }
}
