export interface Closing {
  /** What was opened last is closed first. */
  add(close: () => void | Promise<void>): void;
  close(): Promise<void>;
}

function createClosing(): Closing {
  const steps: (() => void | Promise<void>)[] = [];
  return {
    add: close => void steps.push(close),
    close: async () => {
      for (const step of steps.splice(0).toReversed()) await step();
    },
  };
}

/** Open one thing after the other; where one cannot be opened, those before it are closed again. */
export async function openAll<T>(open: (closing: Closing) => Promise<T>): Promise<T> {
  const closing = createClosing();
  try {
    return await open(closing);
  } catch (error) {
    await closing.close();
    throw error;
  }
}
