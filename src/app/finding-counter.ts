import type { Engine } from '../store/engine.js';
import type { Log } from './log.js';
import type { MirrorPort } from '../mirror/port.js';
import { describeFailure } from '../sync/outcome.js';

interface FindingCounterOptions {
  readonly engine: Pick<Engine, 'ask'>;
  readonly mirror: Pick<MirrorPort, 'report'>;
  readonly now: () => number;
  readonly log: Log;
}

const FIRST_DELAY_MS = 30_000;
const MIN_INTERVAL_MS = 5 * 60_000;
/** The interval is at least this many times as long as the count took, so that a large mirror is not counted all the time. */
const INTERVAL_FACTOR = 20;
const TIME_LIMIT_MS = 10 * 60_000;
const SQL = 'SELECT finding, rows FROM findings';

/** Counts the rows with inconsistent data by kind of inconsistency. Stores the counts in the mirror. */
export async function countFindings(
  { engine, mirror, now }: Omit<FindingCounterOptions, 'log'>,
  signal?: AbortSignal,
): Promise<void> {
  const { rows } = await engine.ask({ sql: SQL, timeLimitMs: TIME_LIMIT_MS, ...(signal && { signal }) });
  const findings = [];
  for await (const { finding, rows: count } of rows) {
    findings.push({ finding: String(finding), rows: Number(count) });
  }
  await mirror.report({ at: new Date(now()).toISOString(), findings });
}

/** Counts rows with inconsistent data periodically. Returns a function that stops the counting. */
export function startFindingCounter(options: FindingCounterOptions): () => Promise<void> {
  let timer = setTimeout(startCount, FIRST_DELAY_MS).unref();
  let lastCount = Promise.resolve();
  const stopping = new AbortController();

  function startCount(): void {
    lastCount = countAndSchedule();
  }

  /** Counts once, then schedules the next count. */
  async function countAndSchedule(): Promise<void> {
    const startedMs = performance.now();
    await countFindings(options, stopping.signal).catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      options.log.warn({ error: describeFailure(error) }, 'counting findings failed');
    });
    if (stopping.signal.aborted) return;
    const durationMs = performance.now() - startedMs;
    timer = setTimeout(startCount, Math.max(MIN_INTERVAL_MS, INTERVAL_FACTOR * durationMs)).unref();
  }

  return async () => {
    stopping.abort();
    clearTimeout(timer);
    await lastCount;
  };
}
