import { workerData } from 'node:worker_threads';

/** What the thread beside a query needs to know. */
export interface QueryLimits {
  /** The process that asked. */
  readonly askerPid: number;
  readonly timeLimitMs: number;
  readonly memoryMb: number;
}

const LOOK_EVERY_MS = 100;
/** The asker stops a query at its limit and says so; this is for one that cannot any more. */
const GRACE_MS = 500;

/** A process that has just begun. */
const FRESH_BYTES = process.memoryUsage.rss();

const { askerPid, timeLimitMs, memoryMb }: QueryLimits = workerData;

/** SQLite lets no other code of its thread run: only a kill ends a query that works on an answer. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

setInterval(() => {
  const took = process.memoryUsage.rss() - FRESH_BYTES;
  if (process.ppid !== askerPid || took > memoryMb * 1024 * 1024) end();
}, LOOK_EVERY_MS);
setTimeout(end, timeLimitMs + GRACE_MS);
