export interface BudgetOptions {
  readonly requestsPerSecond: number;
  readonly burst: number;
  readonly concurrency: number;
  readonly now: () => number;
}

/** A download is long, and nobody waits for it: so many places are left to all other calls. */
const LEFT_BY_DOWNLOADS = 2;

/** Calls per second and calls in flight, shared by everyone who holds the budget; first come, first served. */
export function createBudget({ requestsPerSecond, burst, concurrency, now }: BudgetOptions) {
  const waiting: { readonly start: () => void; readonly isDownload: boolean }[] = [];
  const mostDownloads = Math.max(1, concurrency - LEFT_BY_DOWNLOADS);
  let allowance = burst;
  let countedAtMs = now();
  let inFlight = 0;
  let downloads = 0;
  let timer: NodeJS.Timeout | undefined;

  function count(): void {
    const nowMs = now();
    const earned = (Math.max(nowMs - countedAtMs, 0) * requestsPerSecond) / 1000;
    allowance = requestsPerSecond === Infinity ? burst : Math.min(burst, allowance + earned);
    countedAtMs = nowMs;
  }

  function pump(): void {
    clearTimeout(timer);
    count();
    while (inFlight < concurrency && allowance >= 1) {
      const place = waiting.findIndex(({ isDownload }) => !isDownload || downloads < mostDownloads);
      const [next] = place < 0 ? [] : waiting.splice(place, 1);
      if (next === undefined) return;
      allowance -= 1;
      inFlight += 1;
      downloads += Number(next.isDownload);
      next.start();
      count();
    }
    if (waiting.length === 0 || inFlight >= concurrency) return;
    timer = setTimeout(pump, Math.ceil(((1 - allowance) * 1000) / requestsPerSecond));
  }

  function give(isDownload: boolean): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      inFlight -= 1;
      downloads -= Number(isDownload);
      pump();
    };
  }

  return {
    /** Resolves to the function that gives the place back; call it once. */
    take: (signal?: AbortSignal, isDownload = false) =>
      new Promise<() => void>((resolve, reject) => {
        const leave = () => {
          const place = waiting.indexOf(waiter);
          if (place >= 0) waiting.splice(place, 1);
          reject(signal?.reason);
        };
        const waiter = {
          start: () => {
            signal?.removeEventListener('abort', leave);
            resolve(give(isDownload));
          },
          isDownload,
        };
        if (signal?.aborted === true) {
          leave();
          return;
        }
        signal?.addEventListener('abort', leave, { once: true });
        waiting.push(waiter);
        pump();
      }),
  };
}
