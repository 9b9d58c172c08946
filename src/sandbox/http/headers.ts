import type { RequestHandler } from 'express';
import { badRequest, RegistryError } from './errors.js';

const API_VERSION = '2023-06-16';

export interface HeaderRules {
  /** As in `x-<prefix>-api-version`. */
  readonly prefix: string;
  /** Refuses what the registry is known to forgive: no version header, or an Accept that fits no answer. */
  readonly strict: boolean;
}

export function versionHeader(prefix: string): string {
  return `x-${prefix}-api-version`;
}

/** A page of any site may ask, as a certificate's button does: what it may see, its token says. */
export function createPageRules(prefix: string): RequestHandler {
  const asked = {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': `Accept, Authorization, Content-Type, ${versionHeader(prefix)}`,
    'Access-Control-Max-Age': '600',
  };
  return (req, res, next) => {
    res.set('Access-Control-Allow-Origin', '*');
    res.set('Access-Control-Expose-Headers', 'Content-Disposition, Date, Retry-After');
    if (req.method !== 'OPTIONS') return next();
    return void res.set(asked).status(204).end();
  };
}

export function createHeaderCheck({ prefix, strict }: HeaderRules): RequestHandler {
  const name = versionHeader(prefix);
  return (req, _res, next) => {
    const version = req.get(name);
    if (version === undefined && strict) throw badRequest(`The header ${name} is missing`);
    if (version !== undefined && version !== API_VERSION) {
      throw badRequest(`The header ${name} must be ${API_VERSION}`);
    }
    const type = req.path.endsWith('/pdf') ? 'application/octet-stream' : 'application/json';
    if (strict && req.accepts(type) === false)
      throw new RegistryError(406, `The accept header must be ${type}`);
    next();
  };
}
