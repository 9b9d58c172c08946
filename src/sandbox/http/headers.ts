import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler } from 'express';
import { badRequest, ApiError } from './api-errors.js';

const API_VERSION = '2023-06-16';

export interface HeaderOptions {
  /** The word `registry` in `x-registry-api-version`. */
  readonly headerPrefix: string;
  /** Refuses a missing version header and an unsuitable Accept header, both of which the registry tolerates. */
  readonly strict: boolean;
}

/** Returns the name of the version header, such as `x-registry-api-version` for the prefix `registry`. */
export function getVersionHeaderName(headerPrefix: string): string {
  return `x-${headerPrefix}-api-version`;
}

/** Creates the middleware that lets web pages of every origin call the registry (CORS). */
export function createCorsMiddleware(headerPrefix: string): RequestHandler {
  // Access depends on the token alone.
  const preflightHeaders = {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': `Accept, Authorization, Content-Type, ${getVersionHeaderName(headerPrefix)}`,
    'Access-Control-Max-Age': '600',
  };
  return (req, res, next) => {
    res.set('Access-Control-Allow-Origin', '*');
    res.set('Access-Control-Expose-Headers', 'Content-Disposition, Date, Retry-After');
    if (req.method !== 'OPTIONS') return next();
    return void res.set(preflightHeaders).status(204).end();
  };
}

/**
 * Creates middleware that refuses a request with a wrong version header. With `strict`, it also refuses a missing version header
 * and an unsuitable Accept header.
 */
export function createHeaderValidator({ headerPrefix, strict }: HeaderOptions): RequestHandler {
  const name = getVersionHeaderName(headerPrefix);
  return (req, _res, next) => {
    const version = req.get(name);
    if (version === undefined && strict) throw badRequest(`The header ${name} is missing`);
    const misnamed = version === undefined ? findVersionHeader(req.headers) : undefined;
    if (misnamed !== undefined) throw badRequest(`The header ${name} is missing: got ${misnamed} instead`);
    if (version !== undefined && version !== API_VERSION) {
      throw badRequest(`The header ${name} must be ${API_VERSION}`);
    }
    const type = req.path.endsWith('/pdf') ? 'application/octet-stream' : 'application/json';
    if (strict && req.accepts(type) === false) throw new ApiError(406, `The accept header must be ${type}`);
    next();
  };
}

/** Returns the name of a version header with any prefix, or undefined if there is none. */
function findVersionHeader(headers: IncomingHttpHeaders): string | undefined {
  return Object.keys(headers).find(name => /^x-[a-z0-9-]+-api-version$/.test(name));
}
