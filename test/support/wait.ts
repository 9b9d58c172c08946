/** Waits for a condition. The long deadline only keeps a broken test from hanging. */
export async function until(condition: () => boolean | Promise<boolean>, description: string): Promise<void> {
  const deadline = performance.now() + 170_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited 170 s in vain for ${description}`);
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

export function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>(given => {
    resolve = given;
  });
  return { promise, resolve };
}
