import { workerData } from 'node:worker_threads';

/** The limits that the watchdog enforces. */
export interface QueryLimits {
  /** The process that started the query. If it ends, the query is killed. */
  readonly parentPid: number;
  readonly timeLimitMs: number;
  readonly memoryMb: number;
}

const CHECK_INTERVAL_MS = 100;
/** The parent kills the query at the time limit and reports it. The watchdog does it this much later, if the parent could not. */
const GRACE_MS = 500;

/** The memory of the process before the query. */
const INITIAL_BYTES = process.memoryUsage.rss();

const { parentPid, timeLimitMs, memoryMb }: QueryLimits = workerData;

/** Kills the process. A running query blocks its thread, so nothing else can stop it. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

setInterval(() => {
  const usedBytes = process.memoryUsage.rss() - INITIAL_BYTES;
  if (process.ppid !== parentPid || usedBytes > memoryMb * 1024 * 1024) end();
}, CHECK_INTERVAL_MS);
setTimeout(end, timeLimitMs + GRACE_MS);
