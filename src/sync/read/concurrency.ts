/**
 * Calls `work` for each item, at most `concurrency` at a time. After an error, the other calls go on; the error is thrown at
 * the end.
 */
export async function forEachConcurrently<Item>(
  concurrency: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  // An error ends only its own lane. The other lanes finish the remaining items.
  const remaining = items.values();
  const lanes = Array.from({ length: Math.min(concurrency, items.length) }, async () => {
    for (const item of remaining) await work(item);
  });
  const results = await Promise.allSettled(lanes);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
