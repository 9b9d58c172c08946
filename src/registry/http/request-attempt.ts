import type { CallRecord, HttpRequest } from './http-types.js';
import type { RegistryError } from '../errors.js';
import { createCancelledError, createTimeoutError, toRegistryError } from './transport-errors.js';

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
