/** One work after the other. */
export interface Turns {
  readonly wait: () => Promise<void>;
  /** Answers how to let the next one begin. */
  readonly take: () => Promise<() => void>;
}

export function createTurns(): Turns {
  let last = Promise.resolve();
  return {
    wait: () => last,
    take: () => {
      const before = last;
      let release: () => void;
      last = new Promise(resolve => {
        release = resolve;
      });
      return before.then(() => release);
    },
  };
}
