import type { Request } from 'express';
import type { Attribution } from './calls.js';
import { trustsOwnClock, verifyAppJwt } from './app-jwt.js';
import { forbidden, unauthorized } from './errors.js';
import { allows, type Permission } from '../registry/permissions.js';
import type { Store } from '../store/store.js';
import type { Caller, Tokens } from '../registry/tokens.js';

/** The app itself by its JWT; an access token; one that reaches this organization; one that holds a permission on it. */
export type Needs = 'an app' | 'any token' | 'a token of it' | Permission;

interface AccessParts {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly strict: boolean;
  readonly attribute: (req: Request, who: Attribution) => void;
}

const NOBODY = { tokenId: null, installationId: null, organizationId: null, isSuspended: false, grants: {} };
const BEARER = /^Bearer +(\S+)$/i;

export function createAccess({ store, tokens, strict, attribute }: AccessParts) {
  const { tables, clock, wall } = store;

  function keysOf(appId: string): readonly string[] | undefined {
    return tables.apps.get(appId)?.keys.map(({ pem }) => pem);
  }

  /** Other programs sign by the wall clock, and cannot know that the sandbox's was moved. */
  function clocksFor({ res }: Request): readonly number[] {
    return trustsOwnClock(res) ? [clock.now()] : [clock.now(), wall()];
  }

  function readApp(credential: string, clocks: readonly number[]): Caller {
    if (credential.startsWith('crs_'))
      throw unauthorized('A JWT signed by the app is needed, not an access token');
    const checked = verifyAppJwt({ jwt: credential, nowMs: clocks, strict, keysOf });
    if ('refused' in checked) throw unauthorized(checked.refused);
    return { ...NOBODY, appId: checked.appId };
  }

  /** Who calls, if that is who is needed; refuses with the registry's own words if not. */
  function admit(req: Request, needs: Needs, organizationId: string): Caller {
    const credential = readBearer(req);
    const caller = needs === 'an app' ? readApp(credential, clocksFor(req)) : tokens.open(credential);
    attribute(req, caller);
    if (needs === 'an app') return caller;
    if (caller.isSuspended) throw forbidden('The installation is suspended');
    if (needs === 'any token') return caller;
    if (caller.organizationId !== null && caller.organizationId !== organizationId)
      throw forbidden('The token has no access to this organization');
    if (needs === 'a token of it') return caller;
    if (caller.organizationId === null) throw forbidden('An installation access token is needed');
    if (!allows(caller.grants, needs)) throw forbidden(`The token has no permission ${needs}`);
    return caller;
  }

  return { admit };
}

function readBearer(req: Request): string {
  const header = req.get('authorization');
  if (header === undefined) throw unauthorized('The Authorization header is missing');
  const credential = BEARER.exec(header.trim())?.[1];
  if (credential === undefined) throw unauthorized('The Authorization header must be Bearer and a token');
  return credential;
}
