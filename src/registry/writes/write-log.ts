const MAX_CREATED_IDS = 10_000;

export type WriteLog = ReturnType<typeof createWriteLog>;

/** Creates a log of this process's recent writes, so that the result of one write is not taken for that of another. */
export function createWriteLog() {
  const lastRunByKey = new Map<string, Promise<unknown>>();
  const createdIds = new Set<string>();

  return {
    /**
     * Runs the writes with the same key one after another. The results of identical concurrent writes could not be told
     * apart.
     */
    async runExclusively<T>(key: string, run: () => Promise<T>): Promise<T> {
      const previousRun = lastRunByKey.get(key) ?? Promise.resolve();
      const thisRun = previousRun.catch(() => undefined).then(run);
      lastRunByKey.set(key, thisRun);
      try {
        return await thisRun;
      } finally {
        if (lastRunByKey.get(key) === thisRun) lastRunByKey.delete(key);
      }
    },
    /** Records the id of an object that one of our writes created. Keeps only the latest 10,000. */
    recordCreated(id: string): void {
      createdIds.add(id);
      const [oldestId] = createdIds;
      if (createdIds.size > MAX_CREATED_IDS && oldestId !== undefined) createdIds.delete(oldestId);
    },
    /** Whether one of the recorded writes created the object with this id. */
    isCreatedHere: (id: string): boolean => createdIds.has(id),
  };
}
