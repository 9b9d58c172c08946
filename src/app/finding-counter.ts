import type { Engine } from '../store/engine.js';
import type { Log } from './log.js';
import type { MirrorPort } from '../mirror/port/mirror-port.js';
import { FINDINGS } from '../query/history/findings.js';
import { describeFailure } from '../sync/outcome.js';

interface FindingCounterOptions {
  readonly engine: Pick<Engine, 'runSqlQuery'>;
  readonly mirror: Pick<MirrorPort, 'report'>;
  readonly now: () => number;
  readonly log: Log;
}

const FIRST_DELAY_MS = 30_000;
const MIN_INTERVAL_MS = 5 * 60_000;
/** The interval is this many times as long as the count took: counting takes 1 % of a processor at most. */
const INTERVAL_FACTOR = 100;
/** Whatever the count takes: `doctor` warns of counts that are twice as old. */
const MAX_INTERVAL_MS = 4 * 3_600_000;
const TIME_LIMIT_MS = 10 * 60_000;
const ALL_KINDS = Object.values(FINDINGS).flat();

/** Counts the suspicious rows (findings) of each kind and stores the counts in the mirror. Without `kinds`, counts all kinds. */
export async function countFindings(
  { engine, mirror, now }: Omit<FindingCounterOptions, 'log'>,
  kinds: readonly string[] = ALL_KINDS,
  signal?: AbortSignal,
): Promise<void> {
  const names = kinds.map(kind => `'${kind}'`).join(', ');
  const sql = `SELECT finding, rows FROM findings WHERE finding IN (${names})`;
  const { rows } = await engine.runSqlQuery({ sql, timeLimitMs: TIME_LIMIT_MS, ...(signal && { signal }) });
  const findings = [];
  for await (const { finding, rows: count } of rows) {
    findings.push({ finding: String(finding), rows: Number(count) });
  }
  await mirror.report({ at: new Date(now()).toISOString(), findings, knownFindings: ALL_KINDS });
}

/** Starts to count suspicious rows periodically. Returns a function that stops the counting. */
export function startFindingCounter(options: FindingCounterOptions): () => Promise<void> {
  // Kinds that need all older versions are counted apart, because on a mirror of years that takes long.
  const stops = Object.values(FINDINGS).map(kinds => startCounting(options, kinds));
  return async () => void (await Promise.all(stops.map(stop => stop())));
}

/** Starts to count the suspicious rows of some kinds periodically. Returns a function that stops the counting. */
function startCounting(options: FindingCounterOptions, kinds: readonly string[]): () => Promise<void> {
  let timer = setTimeout(startCount, FIRST_DELAY_MS).unref();
  let lastCount = Promise.resolve();
  const stopping = new AbortController();

  function startCount(): void {
    lastCount = countAndSchedule();
  }

  /** Counts the suspicious rows once, then schedules the next count. */
  async function countAndSchedule(): Promise<void> {
    const startedMs = performance.now();
    await countFindings(options, kinds, stopping.signal).catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      options.log.warn({ error: describeFailure(error) }, 'counting findings failed');
    });
    if (stopping.signal.aborted) return;
    const intervalMs = INTERVAL_FACTOR * (performance.now() - startedMs);
    const waitMs = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, intervalMs));
    timer = setTimeout(startCount, waitMs).unref();
  }

  return async () => {
    stopping.abort();
    clearTimeout(timer);
    await lastCount;
  };
}
