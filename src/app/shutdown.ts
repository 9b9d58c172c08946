/** A list of things to close, in reverse order of opening. */
interface ShutdownStack {
  readonly add: (close: () => void | Promise<void>) => void;
  readonly close: () => Promise<void>;
}

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
 * Runs `open`, which opens several things and adds how to close each. If it throws, those already open are closed again, the
 * latest first. After success, closing the stack is up to the caller.
 */
export async function openInOrder<T>(open: (shutdown: ShutdownStack) => Promise<T>): Promise<T> {
  const shutdown = createShutdownStack();
  try {
    return await open(shutdown);
  } catch (error) {
    await shutdown.close();
    throw error;
  }
}
