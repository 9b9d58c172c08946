/** A list of things to close, in reverse order of opening. */
interface ShutdownStack {
  readonly add: (close: () => void | Promise<void>) => void;
  readonly close: () => Promise<void>;
}

/** Creates a stack of close functions. The function that was added last runs first. */
function createShutdownStack(): ShutdownStack {
  const steps: (() => void | Promise<void>)[] = [];
  return {
    add: close => void steps.push(close),
    close: async () => {
      for (const step of steps.splice(0).toReversed()) await step();
    },
  };
}

/**
 * Calls `open` with a new shutdown stack and returns its result. If `open` throws, closes the resources on the stack and
 * rethrows the error.
 */
export async function openWithCleanup<T>(open: (shutdown: ShutdownStack) => Promise<T>): Promise<T> {
  const shutdown = createShutdownStack();
  try {
    return await open(shutdown);
  } catch (error) {
    await shutdown.close();
    throw error;
  }
}
