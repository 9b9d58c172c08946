/** One transaction takes about so long: others wait no longer for their turn. */
const TAKES_MS = 60;
const FEWEST = 200;
const MOST = 4000;
const AT_FIRST = 400;

/** How many rows one transaction takes: as many as are written in a short time on this machine. */
export class Pace {
  #rows = AT_FIRST;

  get rows(): number {
    return this.#rows;
  }

  /** After a transaction. Few rows tell nothing; and never more than twice as many follow. */
  note(rows: number, ms: number): void {
    if (rows < FEWEST) return;
    const fitting = Math.round((rows * TAKES_MS) / Math.max(ms, 1));
    this.#rows = Math.min(MOST, rows * 2, Math.max(FEWEST, fitting));
  }
}
