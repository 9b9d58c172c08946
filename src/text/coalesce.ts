/** Coalesces calls: `run` never overlaps itself, and all calls made during a run share the next run. */
export function coalesce(run: () => Promise<void>): () => Promise<void> {
  let lastRun = Promise.resolve();
  let nextRun: Promise<void> | null = null;

  /** Called when the previous run has ended. Starts the next run. */
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
