export type RepeatingTask = ReturnType<typeof createRepeatingTask>;

/** Creates a task that runs at once and then repeatedly. `run` returns how many milliseconds to wait before its next run. */
export function createRepeatingTask(run: () => Promise<number>) {
  let timer: NodeJS.Timeout | undefined;
  let currentRun = Promise.resolve();
  let started = false;

  /** Runs the task once, then sets the timer for its next run. */
  async function runAndSchedule(): Promise<void> {
    const delayMs = await run();
    if (started) timer = setTimeout(startRun, delayMs);
  }

  /** Starts a run and remembers it, so that `stop` can wait for it. */
  function startRun(): void {
    currentRun = runAndSchedule();
  }

  return {
    start(): void {
      started = true;
      startRun();
    },
    /** Stops the task; resolves when the current run has ended. */
    async stop(): Promise<void> {
      started = false;
      clearTimeout(timer);
      await currentRun;
    },
  };
}
