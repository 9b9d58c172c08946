export type Again = ReturnType<typeof again>;

/** Does it at once, and then again after as many milliseconds as it answers. */
export function again(work: () => Promise<number>) {
  let timer: NodeJS.Timeout | undefined;
  let underWay = Promise.resolve();
  let started = false;

  async function once(): Promise<void> {
    const waitMs = await work();
    if (started) timer = setTimeout(begin, waitMs);
  }

  function begin(): void {
    underWay = once();
  }

  return {
    start(): void {
      started = true;
      begin();
    },
    /** After what is being done has ended. */
    async stop(): Promise<void> {
      started = false;
      clearTimeout(timer);
      await underWay;
    },
  };
}
