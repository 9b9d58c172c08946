/** Does the work for each item, so many at once. What goes wrong is thrown after those beside it have ended. */
export async function inLanes<Item>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lanes = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const item of waiting) await work(item);
  });
  const results = await Promise.allSettled(lanes);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
