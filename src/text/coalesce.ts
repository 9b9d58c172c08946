/** Wraps `run` so that runs never overlap. All calls during a run share one next run. */
export function coalesce(run: () => Promise<void>): () => Promise<void> {
  let lastRun = Promise.resolve();
  let nextRun: Promise<void> | null = null;

  /** Starts the next call of `run`, for which callers already wait. Called when the previous call has ended. */
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
