/** Those who ask while the work is under way share the next turn of it: what they did before is sure to be in it. */
export function shareNext(work: () => Promise<void>): () => Promise<void> {
  let underWay = Promise.resolve();
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    underWay = work();
    return underWay;
  };
  return () => {
    next ??= underWay.then(start, start);
    return next;
  };
}
