import { workerData } from 'node:worker_threads';

/** The limits that a thread beside the query enforces. */
export interface QueryLimits {
  /** The parent process. */
  readonly askerPid: number;
  readonly timeLimitMs: number;
  readonly memoryMb: number;
}

const LOOK_EVERY_MS = 100;
/** The parent stops a query at its limit and reports it. The thread stops it later, if the parent could not. */
const GRACE_MS = 500;

/** Memory of the process before the query. */
const FRESH_BYTES = process.memoryUsage.rss();

const { askerPid, timeLimitMs, memoryMb }: QueryLimits = workerData;

/** Kills the process. SQLite blocks its thread, so nothing else ends a running query. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

setInterval(() => {
  const took = process.memoryUsage.rss() - FRESH_BYTES;
  if (process.ppid !== askerPid || took > memoryMb * 1024 * 1024) end();
}, LOOK_EVERY_MS);
setTimeout(end, timeLimitMs + GRACE_MS);
