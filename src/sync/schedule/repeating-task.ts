export type RepeatingTask = ReturnType<typeof createRepeatingTask>;

/** Creates a task that runs repeatedly after `start`. `run` returns the delay before the next run in milliseconds. */
export function createRepeatingTask(run: () => Promise<number>) {
  let timer: NodeJS.Timeout | undefined;
  let currentRun = Promise.resolve();
  let started = false;

  /** Runs the task once and sets the timer for the next run. */
  async function runAndSchedule(): Promise<void> {
    const delayMs = await run();
    if (started) timer = setTimeout(startRun, delayMs);
  }

  /** Starts a run and keeps its promise for `stop`. */
  function startRun(): void {
    currentRun = runAndSchedule();
  }

  return {
    /** Starts the repeating task. Its first run begins at once. */
    start(): void {
      started = true;
      startRun();
    },
    /** Stops the repeating task. Resolves when the current run has ended. */
    async stop(): Promise<void> {
      started = false;
      clearTimeout(timer);
      await currentRun;
    },
  };
}
