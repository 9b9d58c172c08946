export interface RequestLimiterOptions {
  readonly requestsPerSecond: number;
  /** How many requests may start at once after a pause. */
  readonly burst: number;
  /** How many requests may be in flight. */
  readonly concurrency: number;
  readonly now: () => number;
}

/** Returns the slot to the limiter. Calling it again does nothing. */
type ReleaseSlot = () => void;

/** A request that waits for a slot. */
interface QueuedRequest {
  readonly start: () => void;
  readonly isDownload: boolean;
}

/** How many slots downloads leave to other requests, because downloads take long and nobody waits for them. */
const SLOTS_KEPT_FROM_DOWNLOADS = 2;
/** While other requests wait, one of so many requests is a download. An organization may have thousands of certificates. */
const REQUESTS_PER_DOWNLOAD = 4;

/** Creates a limiter for requests per second and concurrent requests. Downloads have lower priority. */
export function createRequestLimiter({ requestsPerSecond, burst, concurrency, now }: RequestLimiterOptions) {
  const queue: QueuedRequest[] = [];
  const maxDownloads = Math.max(1, concurrency - SLOTS_KEPT_FROM_DOWNLOADS);
  let allowance = burst;
  let refilledAtMs = now();
  let inFlight = 0;
  let downloads = 0;
  let othersSinceDownload = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Refills the token bucket of the rate limit for the time since the last refill. */
  function refillAllowance(): void {
    const nowMs = now();
    const earned = (Math.max(nowMs - refilledAtMs, 0) * requestsPerSecond) / 1000;
    allowance = requestsPerSecond === Infinity ? burst : Math.min(burst, allowance + earned);
    refilledAtMs = nowMs;
  }

  /**
   * Removes the request to start next from the queue and returns it; undefined if none may start. While other requests wait,
   * only every fourth one is a download.
   */
  function dequeueNext(): QueuedRequest | undefined {
    const mayDownload = downloads < maxDownloads;
    const download = mayDownload ? queue.findIndex(({ isDownload }) => isDownload) : -1;
    const other = queue.findIndex(({ isDownload }) => !isDownload);
    const isDownloadTurn = other < 0 || othersSinceDownload >= REQUESTS_PER_DOWNLOAD - 1;
    const index = download >= 0 && isDownloadTurn ? download : other;
    if (index < 0) return undefined;
    othersSinceDownload = index === download ? 0 : othersSinceDownload + 1;
    return queue.splice(index, 1)[0];
  }

  /**
   * Starts the queued requests that the rate limit and the concurrency limit allow. Sets a timer if others must wait for the
   * rate limit.
   */
  function startQueuedRequests(): void {
    clearTimeout(timer);
    refillAllowance();
    while (inFlight < concurrency && allowance >= 1) {
      const next = dequeueNext();
      if (next === undefined) return;
      allowance -= 1;
      inFlight += 1;
      downloads += Number(next.isDownload);
      next.start();
      refillAllowance();
    }
    if (queue.length === 0 || inFlight >= concurrency) return;
    timer = setTimeout(startQueuedRequests, Math.ceil(((1 - allowance) * 1000) / requestsPerSecond));
  }

  /**
   * Creates the function that a request calls when it ends: it frees the slot of the request and starts queued requests. Later
   * calls do nothing.
   */
  function createReleaseSlot(isDownload: boolean): ReleaseSlot {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      inFlight -= 1;
      downloads -= Number(isDownload);
      startQueuedRequests();
    };
  }

  return {
    /** Waits for a slot and resolves to the function that releases it. Rejects with the signal's reason on abort. */
    acquireSlot: (signal?: AbortSignal, isDownload = false) =>
      new Promise<ReleaseSlot>((resolve, reject) => {
        const onAbort = () => {
          const index = queue.indexOf(queuedRequest);
          if (index >= 0) queue.splice(index, 1);
          reject(signal?.reason);
        };
        const queuedRequest = {
          start: () => {
            signal?.removeEventListener('abort', onAbort);
            resolve(createReleaseSlot(isDownload));
          },
          isDownload,
        };
        if (signal?.aborted === true) {
          onAbort();
          return;
        }
        signal?.addEventListener('abort', onAbort, { once: true });
        queue.push(queuedRequest);
        startQueuedRequests();
      }),
  };
}
