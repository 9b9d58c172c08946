const MAX_CREATED_IDS = 10_000;

export type WriteLog = ReturnType<typeof createWriteLog>;

/**
 * Creates an object through which a client runs its writes. Writes with the same key run one after another. The object also remembers the
 * ids of the objects that the writes created.
 */
export function createWriteLog() {
  const lastRunByKey = new Map<string, Promise<unknown>>();
  const createdIds = new Set<string>();

  return {
    /** Runs a write after all earlier writes with the same key have ended, and returns the result of the write. */
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
    /** Stores the id of an object that a write of this client created. Keeps the newest 10,000 ids. */
    recordCreated(id: string): void {
      createdIds.add(id);
      const [oldestId] = createdIds;
      if (createdIds.size > MAX_CREATED_IDS && oldestId !== undefined) createdIds.delete(oldestId);
    },
    /** Whether one of the recorded writes created the object with this id. */
    isCreatedHere: (id: string): boolean => createdIds.has(id),
  };
}
