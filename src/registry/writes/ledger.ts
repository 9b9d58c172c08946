const MOST_REMEMBERED = 10_000;

/** What this process has written lately: it tells our own earlier writes from the one whose answer was lost. */
export interface Ledger {
  /** Identical writes wait for each other, so that a look-up never takes one for the other. */
  alone<T>(key: string, work: () => Promise<T>): Promise<T>;
  remember(id: string): void;
  knows(id: string): boolean;
}

export function createLedger(): Ledger {
  const running = new Map<string, Promise<unknown>>();
  const remembered = new Set<string>();

  return {
    async alone(key, work) {
      const before = running.get(key) ?? Promise.resolve();
      const mine = before.catch(() => undefined).then(work);
      running.set(key, mine);
      try {
        return await mine;
      } finally {
        if (running.get(key) === mine) running.delete(key);
      }
    },
    remember(id) {
      remembered.add(id);
      const [oldest] = remembered;
      if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    },
    knows: id => remembered.has(id),
  };
}
