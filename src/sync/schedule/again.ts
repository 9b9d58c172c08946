export interface Again {
  start(): void;
  /** After what is being done has ended. */
  stop(): Promise<void>;
}

/** Does it at once, and then again after as many milliseconds as it answers. */
export function again(work: () => Promise<number>): Again {
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
    start() {
      started = true;
      begin();
    },
    async stop() {
      started = false;
      clearTimeout(timer);
      await underWay;
    },
  };
}
