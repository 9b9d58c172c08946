/**
 * Calls `work` for each item, up to `concurrency` items at a time. An error ends the lane in which it occurred;
 * it is thrown after the other lanes have finished the remaining items.
 */
export async function forEachConcurrently<Item>(
  concurrency: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const remaining = items.values();
  const lanes = Array.from({ length: Math.min(concurrency, items.length) }, async () => {
    for (const item of remaining) await work(item);
  });
  const results = await Promise.allSettled(lanes);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
