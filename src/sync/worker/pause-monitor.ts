import { describeFailure } from '../outcome.js';
import type { WorkerLog } from './worker-log.js';

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
