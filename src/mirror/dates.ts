import { formatInstant } from '../resources/columns.js';

/** The instant at which an answer came, unless the row has that one or a later one already: then the next. */
export function following(observedAt: string, before: string | null): string {
  return before === null || before < observedAt ? observedAt : formatInstant(Date.parse(before) + 1);
}

/** The instants that one sync gives to rows: those of the answers, strictly rising for each row whatever the clock does. */
export class Dates {
  #latest: string;

  /** `latest`: the latest instant that any row has by now. */
  constructor(latest: string | null) {
    this.#latest = latest ?? '';
  }

  get latest(): string | null {
    return this.#latest === '' ? null : this.#latest;
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
