import type { RequestHandler } from 'express';
import { badRequest, ApiError } from './errors.js';

const API_VERSION = '2023-06-16';

export interface HeaderOptions {
  /** The word `registry` in `x-registry-api-version`. */
  readonly prefix: string;
  /** Refuses a missing version header and an unsuitable Accept header, both of which the registry tolerates. */
  readonly strict: boolean;
}

/** Returns the name of the version header, such as `x-registry-api-version`. */
export function getVersionHeaderName(prefix: string): string {
  return `x-${prefix}-api-version`;
}

/**
 * Creates the middleware that lets web pages of any origin call the registry, and answers their preflight requests.
 * Access depends on the token alone.
 */
export function createCorsMiddleware(prefix: string): RequestHandler {
  const preflightHeaders = {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': `Accept, Authorization, Content-Type, ${getVersionHeaderName(prefix)}`,
    'Access-Control-Max-Age': '600',
  };
  return (req, res, next) => {
    res.set('Access-Control-Allow-Origin', '*');
    res.set('Access-Control-Expose-Headers', 'Content-Disposition, Date, Retry-After');
    if (req.method !== 'OPTIONS') return next();
    return void res.set(preflightHeaders).status(204).end();
  };
}

/** Creates the middleware that answers a wrong version header with status 400 and a wrong Accept header with 406. */
export function createHeaderValidator({ prefix, strict }: HeaderOptions): RequestHandler {
  const name = getVersionHeaderName(prefix);
  return (req, _res, next) => {
    const version = req.get(name);
    if (version === undefined && strict) throw badRequest(`The header ${name} is missing`);
    if (version !== undefined && version !== API_VERSION) {
      throw badRequest(`The header ${name} must be ${API_VERSION}`);
    }
    const type = req.path.endsWith('/pdf') ? 'application/octet-stream' : 'application/json';
    if (strict && req.accepts(type) === false) throw new ApiError(406, `The accept header must be ${type}`);
    next();
  };
}
