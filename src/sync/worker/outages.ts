import { describeFailure } from '../outcome.js';
import type { WorkerLog } from './worker-log.js';
import { type ClaimedJob, OUTAGE_CODES, PARTIAL_READ_PREFIX } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import type { JobResult } from './execute-job.js';

const CHECK_INTERVAL_MS = 5000;

/** The pause check, and what happens when its result changes. */
export interface PauseMonitorOptions {
  /** Returns why nothing may be read now. Returns null if reads are allowed. */
  readonly findPauseReason: (() => string | null) | undefined;
  readonly checkIntervalMs: number | undefined;
  readonly log: WorkerLog;
  readonly onPause: () => void;
  readonly onResume: () => void;
}

/** Creates a monitor that checks regularly whether reads must pause, for example because the disk is nearly full. */
export function createPauseMonitor(options: PauseMonitorOptions) {
  const { findPauseReason, checkIntervalMs = CHECK_INTERVAL_MS, log, onPause, onResume } = options;
  let paused = false;
  let timer: NodeJS.Timeout | undefined;

  /** Checks whether reads must pause. If that has changed, calls `onPause` or `onResume`. */
  function updatePause(): void {
    try {
      const reason = findPauseReason?.() ?? null;
      if ((reason !== null) === paused) return;
      paused = reason !== null;
      if (paused) {
        log.warn({ reason }, 'reads and certificates paused; deliveries are still stored');
        onPause();
      } else {
        log.info({}, 'reads and certificates resumed');
        onResume();
      }
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'disk check failed');
    }
  }

  return {
    isPaused: () => paused,
    /** Starts the monitor, which checks at once and then regularly whether reads must pause. */
    start(): void {
      updatePause();
      timer = setInterval(updatePause, checkIntervalMs);
    },
    stop: () => clearInterval(timer),
  };
}

/** If the last success is this recent, the registry was up, and failures since then concerned single organizations. */
const RECENT_SUCCESS_MS = 5000;

export interface OutageTrackerOptions {
  readonly inbox: Pick<InboxPort, 'prioritizeFailed'>;
  readonly now: () => number;
  readonly log: WorkerLog;
}

/**
 * Creates a tracker that detects the end of a registry outage, and then makes the jobs that failed during the outage run before all
 * other jobs.
 */
export function createOutageTracker({ inbox, now, log }: OutageTrackerOptions) {
  // Assume an outage until the first success: jobs may have failed before this process started.
  let outageSuspected = true;
  let lastSuccessAt = -Infinity;

  /**
   * Records that the registry has answered the requests of a job. If that ends an outage, makes the jobs that failed during the
   * outage run before all other jobs.
   */
  async function recordSuccess(): Promise<void> {
    const outageEnded = outageSuspected && now() - lastSuccessAt >= RECENT_SUCCESS_MS;
    outageSuspected = false;
    lastSuccessAt = now();
    if (!outageEnded) return;
    try {
      const failedJobs = await inbox.prioritizeFailed(OUTAGE_CODES);
      if (failedJobs > 0) log.info({ failedJobs }, 'registry recovered; retrying failed jobs first');
    } catch (error) {
      outageSuspected = true;
      log.warn({ error: describeFailure(error) }, 'failed jobs could not be prioritized');
    }
  }

  return {
    /**
     * Detects from the result of a job whether an outage of the registry has begun or ended. When an outage ends, makes the jobs
     * that failed during it run before all other jobs.
     */
    async recordResult(job: ClaimedJob, { outcome, failure }: JobResult): Promise<void> {
      if (failure !== null) {
        outageSuspected ||= OUTAGE_CODES.some(code => code === failure.code);
        return;
      }
      if (outcome.startsWith(PARTIAL_READ_PREFIX)) {
        outageSuspected = true;
        return;
      }
      // These jobs can succeed without an answer of the registry: they prove nothing.
      if (job.part === 'data' && job.kind !== 'tick' && job.kind !== 'order') await recordSuccess();
    },
  };
}
