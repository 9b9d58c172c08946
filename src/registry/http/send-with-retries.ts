import type { TokenSource } from './credential.js';
import { RegistryError, type RegistryErrorCode } from '../errors.js';
import type { CallRecord, HttpRequest } from './http-types.js';
import { createCancelledError, createTimeoutError, toRegistryError } from './http-errors.js';

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

/**
 * One attempt to send a request, from its start until its body is read. It ends once: later calls of `fail` or `succeed`
 * change nothing.
 */
export interface RequestAttempt {
  /** Aborts the attempt. The reason must be an error. */
  readonly abort: AbortController;
  recordStatus(status: number): void;
  countBytes(bytes: number): void;
  /** Replaces the deadline with a new one that is counted from now. */
  restartDeadline(deadlineMs: number): void;
  /** Ends a failed attempt and returns the error to throw. */
  fail(error: unknown): RegistryError;
  succeed(): void;
}

/** How to time and report an attempt. */
export interface RequestAttemptOptions {
  readonly deadlineMs: number;
  /** Counted from 1. */
  readonly attemptNumber: number;
  readonly now: () => number;
  readonly releaseSlot: () => void;
  readonly onCall: ((call: CallRecord) => void) | undefined;
}

/** Starts an attempt with a deadline. The deadline or the caller's abort signal ends the attempt early. */
export function startAttempt(
  request: Omit<HttpRequest, 'params' | 'query'>,
  options: RequestAttemptOptions,
): RequestAttempt {
  const { now, releaseSlot } = options;
  const { method, route, signal } = request;
  const abort = new AbortController();
  const startedMs = now();
  const onCancel = () => abort.abort(createCancelledError(request, signal?.reason));
  const onDeadline = () => abort.abort(createTimeoutError(request));
  let timer = setTimeout(onDeadline, options.deadlineMs);
  let status: number | null = null;
  let bytes = 0;
  let hasEnded = false;

  /**
   * Ends the attempt: frees its rate limiter slot and reports its status and duration. `error` is null after a success. Later
   * calls do nothing.
   */
  function endAttempt(error: RegistryError | null): void {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', onCancel);
    releaseSlot();
    const { attemptNumber: attempt } = options;
    const code = error?.code ?? null;
    const record = { method, route, attempt, status, code, ms: now() - startedMs, bytes };
    options.onCall?.(record);
    request.onCall?.(record);
  }

  /** Ends the attempt as failed. Returns the error converted to a `RegistryError`, for the caller to throw. */
  function fail(error: unknown): RegistryError {
    const registryError = toRegistryError(request, error, abort.signal);
    endAttempt(registryError);
    return registryError;
  }

  signal?.addEventListener('abort', onCancel, { once: true });
  abort.signal.addEventListener('abort', () => fail(abort.signal.reason));

  return {
    abort,
    recordStatus: newStatus => {
      status = newStatus;
    },
    countBytes: count => {
      bytes += count;
    },
    restartDeadline: deadlineMs => {
      clearTimeout(timer);
      timer = setTimeout(onDeadline, deadlineMs);
    },
    fail,
    succeed: () => endAttempt(null),
  };
}

/** Computes the exponential backoff with random jitter after attempt number `attempt`, counted from 1. */
function computeBackoffMs(attempt: number, random: () => number): number {
  const ceilingMs = Math.min(250 * 2 ** (attempt - 1), 8_000);
  return Math.round(ceilingMs / 2 + (random() * ceilingMs) / 2);
}
