import type { Request } from 'express';
import { verifyAppJwt } from './app-jwt.js';
import { forbidden, unauthorized } from './errors.js';
import { allows, type Permission } from '../parts/permissions.js';
import type { Store } from '../store/store.js';
import type { Caller, Tokens } from '../parts/tokens.js';

/** What the call log notes about a caller, known as soon as the credential is read. */
export interface Attribution {
  readonly appId: string;
  readonly tokenId: string | null;
  readonly installationId: string | null;
}

export interface Access {
  /** The id of the app that signed the JWT. */
  asApp(req: Request): string;
  withAnyToken(req: Request): Caller;
  /** The same, but an installation's token reaches its own organization only. */
  withAnyTokenOf(req: Request, organizationId: string): Caller;
  /** A call on an organization: the token of an installation there that holds the permission. */
  onOrganization(req: Request, organizationId: string, permission: Permission): Caller;
}

export interface AccessParts {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly attribute: (req: Request, who: Attribution) => void;
}

const BEARER = /^Bearer +(\S+)$/i;

export function createAccess({ store, tokens, attribute }: AccessParts): Access {
  const { db, clock } = store;
  const findKeys = db
    .prepare<[string], string>('select public_key from app_keys where app_id = ? order by created_at')
    .pluck();
  const appExists = db.prepare<[string]>('select 1 from apps where id = ?').pluck();

  function keysOf(appId: string): readonly string[] | undefined {
    return appExists.get(appId) === undefined ? undefined : findKeys.all(appId);
  }

  function asApp(req: Request): string {
    const jwt = readBearer(req);
    if (jwt.startsWith('crs_')) throw unauthorized('A JWT signed by the app is needed, not an access token');
    const verdict = verifyAppJwt({ jwt, nowMs: clock.now(), keysOf });
    if ('refused' in verdict) throw unauthorized(verdict.refused);
    attribute(req, { appId: verdict.appId, tokenId: null, installationId: null });
    return verdict.appId;
  }

  function withAnyToken(req: Request): Caller {
    const caller = tokens.open(readBearer(req));
    attribute(req, caller);
    if (caller.isSuspended) throw forbidden('The installation is suspended');
    return caller;
  }

  function withAnyTokenOf(req: Request, organizationId: string): Caller {
    const caller = withAnyToken(req);
    if (caller.organizationId !== null && caller.organizationId !== organizationId)
      throw forbidden('The token has no access to this organization');
    return caller;
  }

  function onOrganization(req: Request, organizationId: string, permission: Permission): Caller {
    const caller = withAnyTokenOf(req, organizationId);
    if (caller.organizationId === null) throw forbidden('An installation access token is needed');
    if (!allows(caller.grants, permission)) throw forbidden(`The token has no permission ${permission}`);
    return caller;
  }

  return { asApp, withAnyToken, withAnyTokenOf, onOrganization };
}

function readBearer(req: Request): string {
  const header = req.get('authorization');
  if (header === undefined) throw unauthorized('The Authorization header is missing');
  const credential = BEARER.exec(header.trim())?.[1];
  if (credential === undefined) throw unauthorized('The Authorization header must be Bearer and a token');
  return credential;
}
