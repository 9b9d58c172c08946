function createShutdown() {
  const steps: (() => void | Promise<void>)[] = [];
  return {
    /** What was opened last is closed first. */
    add: (close: () => void | Promise<void>) => void steps.push(close),
    close: async (): Promise<void> => {
      for (const step of steps.splice(0).toReversed()) await step();
    },
  };
}

/** Open one thing after the other; where one cannot be opened, those before it are closed again. */
export async function openInOrder<T>(
  open: (shutdown: ReturnType<typeof createShutdown>) => Promise<T>,
): Promise<T> {
  const shutdown = createShutdown();
  try {
    return await open(shutdown);
  } catch (error) {
    await shutdown.close();
    throw error;
  }
}
