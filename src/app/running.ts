import type { Log } from '../log.js';

/** A program that runs until it is stopped, or until it fails by itself. */
export interface Running {
  /** Where it takes requests; null where it takes none. */
  readonly port: number | null;
  /** Null where they are off. */
  readonly operationsPort: number | null;
  /** Rejects when the program cannot go on; a stop does not settle it. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

export interface Tools {
  readonly log: Log;
  readonly now: () => number;
}
