const MOST_REMEMBERED = 10_000;

export type Ledger = ReturnType<typeof createLedger>;

/** What this process has written lately: it tells our own earlier writes from the one whose answer was lost. */
export function createLedger() {
  const running = new Map<string, Promise<unknown>>();
  const remembered = new Set<string>();

  return {
    /** Identical writes wait for each other, so that a look-up never takes one for the other. */
    async alone<T>(key: string, work: () => Promise<T>): Promise<T> {
      const before = running.get(key) ?? Promise.resolve();
      const mine = before.catch(() => undefined).then(work);
      running.set(key, mine);
      try {
        return await mine;
      } finally {
        if (running.get(key) === mine) running.delete(key);
      }
    },
    remember(id: string): void {
      remembered.add(id);
      const [oldest] = remembered;
      if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    },
    knows: (id: string): boolean => remembered.has(id),
  };
}
