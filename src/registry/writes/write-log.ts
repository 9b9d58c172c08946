const MAX_CREATED_IDS = 10_000;

export type WriteLog = ReturnType<typeof createWriteLog>;

/** Creates the memory of what this process wrote recently, so that a lost write is not mistaken for an earlier one of ours. */
export function createWriteLog() {
  const lastRunByKey = new Map<string, Promise<unknown>>();
  const createdIds = new Set<string>();

  return {
    /** Runs writes of the same key one after the other: identical writes at the same time could not be told apart afterwards. */
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
    /** Records the id of an object that one of our writes created. Only the latest 10,000 are kept. */
    recordCreated(id: string): void {
      createdIds.add(id);
      const [oldestId] = createdIds;
      if (createdIds.size > MAX_CREATED_IDS && oldestId !== undefined) createdIds.delete(oldestId);
    },
    /** Whether a known write of ours created the object of this id. */
    isCreatedHere: (id: string): boolean => createdIds.has(id),
  };
}
