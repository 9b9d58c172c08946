function createClosing() {
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
export async function openAll<T>(
  open: (closing: ReturnType<typeof createClosing>) => Promise<T>,
): Promise<T> {
  const closing = createClosing();
  try {
    return await open(closing);
  } catch (error) {
    await closing.close();
    throw error;
  }
}
