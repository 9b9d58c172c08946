import type { Engine } from '../store/engine.js';
import type { Log } from './log.js';
import type { MirrorPort } from '../mirror/port.js';
import { FINDINGS } from '../query/history/findings.js';
import { describeFailure } from '../sync/outcome.js';

interface FindingCounterOptions {
  readonly engine: Pick<Engine, 'ask'>;
  readonly mirror: Pick<MirrorPort, 'report'>;
  readonly now: () => number;
  readonly log: Log;
}

const FIRST_DELAY_MS = 30_000;
const MIN_INTERVAL_MS = 5 * 60_000;
/** The interval of a kind is this many times as long as its count took: a kind takes 1 % of a processor at most. */
const INTERVAL_FACTOR = 100;
/** Whatever the count takes: `doctor` warns of counts that are twice as old. */
const MAX_INTERVAL_MS = 4 * 3_600_000;
const TIME_LIMIT_MS = 10 * 60_000;
const selectCount = (finding: string) => `SELECT rows FROM findings WHERE finding = '${finding}'`;

/** Counts the suspicious rows of each kind and stores the counts in the mirror. */
export async function countFindings(
  { engine, mirror, now }: Omit<FindingCounterOptions, 'log'>,
  kinds: readonly string[] = FINDINGS,
  signal?: AbortSignal,
): Promise<void> {
  for (const finding of kinds) {
    const question = { sql: selectCount(finding), timeLimitMs: TIME_LIMIT_MS, ...(signal && { signal }) };
    const { rows } = await engine.ask(question);
    for await (const { rows: count } of rows) {
      const findings = [{ finding, rows: Number(count) }];
      await mirror.report({ at: new Date(now()).toISOString(), findings, knownFindings: FINDINGS });
    }
  }
}

/** Starts to count suspicious rows periodically. Returns a function that stops the counting. */
export function startFindingCounter(options: FindingCounterOptions): () => Promise<void> {
  // Each kind has its own interval: most need only the current rows, but some need all older versions.
  const dueAtMs = new Map(FINDINGS.map(finding => [finding, 0]));
  let timer = setTimeout(startCount, FIRST_DELAY_MS).unref();
  let lastCount = Promise.resolve();
  const stopping = new AbortController();

  function startCount(): void {
    lastCount = countAndSchedule();
  }

  /** Counts every kind of finding that is due, then schedules the next count. */
  async function countAndSchedule(): Promise<void> {
    for (const finding of FINDINGS) {
      const startedMs = performance.now();
      if (stopping.signal.aborted || (dueAtMs.get(finding) ?? 0) > startedMs) continue;
      await countFindings(options, [finding], stopping.signal).catch((error: unknown) => {
        if (stopping.signal.aborted) return;
        options.log.warn({ finding, error: describeFailure(error) }, 'counting findings failed');
      });
      const intervalMs = INTERVAL_FACTOR * (performance.now() - startedMs);
      dueAtMs.set(finding, startedMs + Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, intervalMs)));
    }
    if (stopping.signal.aborted) return;
    const waitMs = Math.min(...dueAtMs.values()) - performance.now();
    timer = setTimeout(startCount, Math.max(0, waitMs)).unref();
  }

  return async () => {
    stopping.abort();
    clearTimeout(timer);
    await lastCount;
  };
}
