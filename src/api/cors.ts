import type { RequestHandler } from 'express';

const EXPOSED = 'etag, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after';
const PREFLIGHT_SECONDS = '600';

/**
 * Creates a handler that lets pages of the given origins call the API. They must send a token themselves: credentials such as
 * cookies are never allowed.
 */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  return (request, response, next) => {
    if (origins.length === 0) return next();
    response.vary('origin');
    const { origin = '' } = request.headers;
    if (!origins.includes(origin)) return next();
    response.set({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED });
    if (request.method !== 'OPTIONS') return next();
    response.set({
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'authorization, if-none-match',
      'access-control-max-age': PREFLIGHT_SECONDS,
    });
    return void response.status(204).end();
  };
}
