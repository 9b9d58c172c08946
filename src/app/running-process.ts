import type { Log } from './log.js';

/** A program that runs until it is stopped, or until it fails by itself. */
export interface RunningProcess {
  /** Where it takes requests; null where it takes none. */
  readonly port: number | null;
  /** Null where they are off. */
  readonly operationsPort: number | null;
  /** Rejects when the program cannot go on; a stop does not settle it. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** Logged once however many connections were lost at once: a server that starts again ends all of them. */
export const CONNECTION_LOST = 'a database connection was lost and will be reopened';

export const DATABASE_NOT_READY = 'the database is not ready: it is waited for a minute';

export interface ProcessDependencies {
  readonly log: Log;
  readonly now: () => number;
}

/** Whether a program goes on: it is broken once a part that it cannot do without has ended by itself. */
export function createProcessHealth() {
  let state: 'running' | 'stopping' | 'broken' = 'running';
  let reject: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, rejectFailed) => {
    reject = rejectFailed;
  });
  return {
    failed,
    fail: (error: Error): void => {
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
