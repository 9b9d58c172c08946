/** How many requests may still be sent, for the headers of a response. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until one more request is allowed. 0 if one is allowed now. */
  readonly retryAfterSeconds: number;
  /** Seconds until the whole limit is available again. */
  readonly resetSeconds: number;
}

interface RateLimiterOptions {
  /** The number of requests that a key may send within a minute. */
  readonly perMinute: number;
  readonly now: () => number;
  /** Beyond this, the key that was used longest ago is forgotten. */
  readonly maxKeys?: number;
}

interface Bucket {
  /** Requests that may be sent now; a fraction grows with time. */
  available: number;
  filledAt: number;
}

const MINUTE_MS = 60_000;
const MAX_KEYS = 10_000;

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/**
 * Creates a rate limiter that allows `perMinute` requests for each key. The token bucket of a key refills evenly within a
 * minute.
 */
export function createRateLimiter({ perMinute, now, maxKeys = MAX_KEYS }: RateLimiterOptions) {
  /** In the order of their last use. */
  const buckets = new Map<string, Bucket>();

  /**
   * Returns the bucket of a key after adding the requests that have become allowed since its last refill. A new key gets a
   * full bucket.
   */
  function refillBucket(key: string): Bucket {
    const at = now();
    const bucket = buckets.get(key) ?? { available: perMinute, filledAt: at };
    const elapsedMs = Math.max(0, at - bucket.filledAt);
    bucket.available = Math.min(perMinute, bucket.available + (elapsedMs * perMinute) / MINUTE_MS);
    bucket.filledAt = at;
    buckets.delete(key);
    buckets.set(key, bucket);
    for (const oldest of buckets.keys()) {
      if (buckets.size <= maxKeys) break;
      buckets.delete(oldest);
    }
    return bucket;
  }

  /** Converts a bucket to the limit, the remaining requests and the seconds until more are allowed. */
  function toRateLimitState({ available }: Bucket): RateLimitState {
    const secondsFor = (missing: number) => Math.ceil((Math.max(0, missing) * 60) / perMinute);
    return {
      limit: perMinute,
      remaining: Math.floor(available),
      retryAfterSeconds: secondsFor(1 - available),
      resetSeconds: secondsFor(perMinute - available),
    };
  }

  return {
    /** Counts a request. Returns the state after it, and whether the request is allowed. */
    take: (key: string): RateLimitState & { readonly isAllowed: boolean } => {
      const bucket = refillBucket(key);
      const isAllowed = bucket.available >= 1;
      if (isAllowed) bucket.available -= 1;
      return { ...toRateLimitState(bucket), isAllowed };
    },
    /** Returns the state of a key without counting a request. */
    peek: (key: string): RateLimitState => toRateLimitState(refillBucket(key)),
  };
}
