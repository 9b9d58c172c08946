/**
 * Coalesces calls: `run` never overlaps itself, and calls made during a run share one further run.
 * Each call resolves after a run that started later than the call.
 */
export function coalesce(run: () => Promise<void>): () => Promise<void> {
  let lastRun = Promise.resolve();
  let nextRun: Promise<void> | null = null;

  /** Starts the shared further run, so that later calls need another one. */
  function startNextRun(): Promise<void> {
    nextRun = null;
    return run();
  }

  return () => {
    if (nextRun !== null) return nextRun;
    nextRun = lastRun.then(startNextRun, startNextRun);
    lastRun = nextRun;
    return nextRun;
  };
}
