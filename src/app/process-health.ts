import type { Log } from './log.js';

/** A started receiver, worker or console. It runs until it is stopped or fails. */
export interface RunningProcess {
  /** The port it serves; null for the worker, which serves none. */
  readonly port: number | null;
  /** The port of /livez, /readyz and /metrics; null if they are off. */
  readonly operationsPort: number | null;
  /** Rejects when the process cannot go on. It never resolves, not even after a stop. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** Log message for lost database connections. It is logged once per incident: a restarted server ends all of them. */
export const CONNECTION_LOST = 'database connection lost; it will be reopened';

/** Log message at the start if the database is not ready. The engine waits for it up to a minute. */
export const DATABASE_NOT_READY = 'database not ready; waiting up to a minute';

/** Dependencies that the caller of a process creates. */
export interface ProcessDependencies {
  readonly log: Log;
  readonly now: () => number;
}

/** Creates an object that tracks whether a process is running, stopping or broken. */
export function createProcessHealth() {
  let state: 'running' | 'stopping' | 'broken' = 'running';
  let reject: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, rejectFailed) => {
    reject = rejectFailed;
  });
  return {
    /** Rejects with the error that broke the process. */
    failed,
    markBroken: (error: Error): void => {
      state = 'broken';
      reject(error);
    },
    markStopping: (): void => {
      state = 'stopping';
    },
    isBroken: () => state === 'broken',
    isStopping: () => state === 'stopping',
  };
}
