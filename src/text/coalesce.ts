/**
 * Work that is done by one at a time: who asks while it is under way has it done once more, after that, and all who ask
 * until then share that one. What is answered resolves when work is done that began after it was asked for.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let waiting: Promise<void> | null = null;

  function begin(): Promise<void> {
    waiting = null;
    return work();
  }

  return () => {
    if (waiting !== null) return waiting;
    waiting = last.then(begin, begin);
    last = waiting;
    return waiting;
  };
}
