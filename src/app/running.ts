import type { Log } from '../log/log.js';

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

/** Whether a program goes on: it is broken once a part that it cannot do without has ended by itself. */
export interface Health {
  readonly failed: Promise<never>;
  readonly fail: (error: Error) => void;
  readonly beginStop: () => void;
  readonly isBroken: () => boolean;
  readonly isStopping: () => boolean;
}

export function createHealth(): Health {
  let state: 'running' | 'stopping' | 'broken' = 'running';
  let reject: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, rejectFailed) => {
    reject = rejectFailed;
  });
  return {
    failed,
    fail: error => {
      state = 'broken';
      reject(error);
    },
    beginStop: () => {
      state = 'stopping';
    },
    isBroken: () => state === 'broken',
    isStopping: () => state === 'stopping',
  };
}
