import type { Request, RequestHandler, Response } from 'express';
import type { StoredToken } from '../inbox/token.js';
import type { Reader } from '../store/contract/reader.js';
import type { Authenticator } from './authenticator.js';
import { ApiProblem } from './problem.js';
import type { RateLimiter, RateLimitState } from './rate-limiter.js';

/** Lends database readers. A request gives its reader back before its answer is sent, so slow clients hold none. */
interface ReaderAccess {
  withReader<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
}

export interface ApiContext {
  readonly readers: ReaderAccess;
  readonly now: () => number;
  readonly authenticator: Authenticator;
  readonly requestLimiter: RateLimiter;
}

/** A request of the holder of a token. */
export interface ApiCall {
  readonly request: Request;
  readonly response: Response;
  readonly token: StoredToken;
}

/**
 * Creates a handler that finds the token of a request and counts the request before it calls `handle`. Throws a 429 problem
 * if the token has sent too many requests.
 */
export function createEndpoint(
  { authenticator, requestLimiter }: ApiContext,
  handle: (call: ApiCall) => Promise<void>,
): RequestHandler {
  return async (request, response) => {
    const token = await authenticator.authenticate(request);
    const state = requestLimiter.take(String(token.id));
    setRateLimitHeaders(response, state);
    if (!state.isAllowed) throw createRateLimitProblem(state);
    await handle({ request, response, token });
  };
}

/** Sets the `RateLimit-*` headers of a response. */
function setRateLimitHeaders(response: Response, { limit, remaining, resetSeconds }: RateLimitState): void {
  response.set({
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  });
}

/** Creates the 429 problem for a token that has sent too many requests. */
function createRateLimitProblem({ limit, retryAfterSeconds }: RateLimitState): ApiProblem {
  return new ApiProblem(429, `This token may send ${limit} requests a minute.`, {
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}

/** Returns a parameter of the URL path, such as `id`. */
export function getPathParameter({ params }: Request, name: string): string {
  const value: unknown = params[name];
  return typeof value === 'string' ? value : '';
}
