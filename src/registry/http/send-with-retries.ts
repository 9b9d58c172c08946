import type { TokenSource } from './credential.js';
import { RegistryError, type RegistryErrorCode } from '../errors.js';
import { computeBackoffMs } from './retry-after.js';

export interface RetryRules {
  /** Maximum number of attempts of a repeatable request, including the first. */
  readonly attempts: number;
  /** The longest wait before a retry. If a longer one is needed, the error is thrown at once and the caller decides. */
  readonly maxRetryWaitMs: number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface RetryableRequest {
  readonly token: TokenSource;
  /** Whether sending the request twice does no harm. */
  readonly repeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A token that the registry refused, and its error. */
interface RefusedToken {
  readonly token: string;
  readonly error: RegistryError;
}

/** What one attempt of a request is sent with. */
export interface AttemptInput {
  readonly token: string;
  /** Counted from 1. Attempts with a refused token count too. */
  readonly attemptNumber: number;
}

const TEMPORARY_ERRORS: ReadonlySet<RegistryErrorCode> = new Set(['rate_limited', 'unavailable', 'timeout']);

/**
 * Sends a request. Retries a repeatable request after temporary errors. After the registry refused the access token, sends
 * once more with a new one.
 */
export async function sendWithRetries<T>(
  request: RetryableRequest,
  rules: RetryRules,
  sendAttempt: (input: AttemptInput) => Promise<T>,
): Promise<T> {
  let refusedToken: RefusedToken | undefined;
  let attempt = 1;
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    const { token, fresh } = await request.token.get().catch(rethrowTokenError);
    if (refusedToken?.token === token) throw refusedToken.error;
    try {
      return await sendAttempt({ token, attemptNumber });
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      const isFirstRefusal = refusedToken === undefined;
      // A request whose token was refused changed nothing, so even a write may be sent again.
      if (error.status === 401 || (error.status === 403 && !fresh && isFirstRefusal)) {
        request.token.discard(token);
        refusedToken = { token, error };
        if (isFirstRefusal) continue;
      }
      const waitMs = Math.max(error.retryAfterMs ?? 0, computeBackoffMs(attempt, rules.random));
      const mayRetry = request.repeatable && TEMPORARY_ERRORS.has(error.code) && attempt < rules.attempts;
      if (!mayRetry || waitMs > rules.maxRetryWaitMs) throw error;
      attempt += 1;
      await rules.sleep(waitMs, request.signal);
    }
  }
}

/**
 * Rethrows the error of a token request. Clears `mayHaveHappened`: the request that needed the token was not sent, so it
 * changed nothing.
 */
function rethrowTokenError(error: unknown): never {
  if (!(error instanceof RegistryError) || !error.mayHaveHappened) throw error;
  const { code, message, call, status, retryAfterMs, registryMessage } = error;
  throw new RegistryError(code, message, { call, status, retryAfterMs, registryMessage, cause: error });
}
