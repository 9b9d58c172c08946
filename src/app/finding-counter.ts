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

const FIRST_MS = 30_000;
const EVERY_MS = 5 * 60_000;
/** A mirror of millions is not counted all the time. */
const TIMES_ITS_LENGTH = 20;
const LONGEST_MS = 10 * 60_000;
const SQL = 'SELECT finding, rows FROM findings';

/** Counts what does not add up or cannot be right, where it keeps nobody waiting. */
export async function countFindings(
  { engine, mirror, now }: Omit<FindingCounterOptions, 'log'>,
  signal?: AbortSignal,
): Promise<void> {
  const { rows } = await engine.ask({ sql: SQL, timeLimitMs: LONGEST_MS, ...(signal && { signal }) });
  const findings = [];
  for await (const { finding, rows: count } of rows) {
    findings.push({ finding: String(finding), rows: Number(count) });
  }
  await mirror.report({ at: new Date(now()).toISOString(), findings });
}

/** Again and again, beside the work; answers what ends it. */
export function startFindingCounter(counting: FindingCounterOptions): () => Promise<void> {
  let timer = setTimeout(begin, FIRST_MS).unref();
  let underWay = Promise.resolve();
  const stopping = new AbortController();

  function begin(): void {
    underWay = count();
  }

  async function count(): Promise<void> {
    const from = performance.now();
    await countFindings(counting, stopping.signal).catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      counting.log.warn({ error: describeFailure(error) }, 'findings were not counted this time');
    });
    const lengthMs = performance.now() - from;
    if (!stopping.signal.aborted)
      timer = setTimeout(begin, Math.max(EVERY_MS, TIMES_ITS_LENGTH * lengthMs)).unref();
  }

  return async () => {
    stopping.abort();
    clearTimeout(timer);
    await underWay;
  };
}
