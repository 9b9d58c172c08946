import type { Request } from 'express';
import type { CallerIdentity } from './call-log.js';
import { isJwtRestrictedToSandboxClock, verifyAppJwt } from './app-jwt.js';
import { forbidden, unauthorized } from './api-errors.js';
import { hasPermission, type Permission } from '../registry/permissions.js';
import type { SandboxStore } from '../store/store.js';
import type { Caller, TokenService } from '../registry/tokens.js';

/**
 * The credential that an endpoint requires. A permission means an access token of an installation that has this
 * permission.
 */
export type AccessRequirement = 'app JWT' | 'any token' | 'organization token' | Permission;

interface AuthorizerOptions {
  readonly store: SandboxStore;
  readonly tokens: TokenService;
  /** Refuses JWTs without `iat` or `alg`. */
  readonly strict: boolean;
  /** Records for the call log who made a request. */
  readonly setCaller: (req: Request, caller: CallerIdentity) => void;
}

const NO_TOKEN = {
  tokenId: null,
  installationId: null,
  organizationId: null,
  isSuspended: false,
  grants: {},
};
const BEARER = /^Bearer +(\S+)$/i;

/** Creates the function that checks the credential of each request to the registry. */
export function createAuthorizer({ store, tokens, strict, setCaller }: AuthorizerOptions) {
  const { tables, clock, wallClock } = store;

  /** Returns the public keys of an app as PEM text. Returns undefined for an unknown app. */
  function listAppKeys(appId: string): readonly string[] | undefined {
    return tables.apps.get(appId)?.keys.map(({ pem }) => pem);
  }

  /**
   * Returns the times at which a JWT may be valid, in epoch milliseconds: the sandbox clock's time and, unless a simulated fault
   * forbids it, the real time.
   */
  function listAcceptedTimes({ res }: Request): readonly number[] {
    // Programs sign by the wall clock, because they do not know that the sandbox clock was moved.
    return isJwtRestrictedToSandboxClock(res) ? [clock.now()] : [clock.now(), wallClock()];
  }

  /** Returns the app that signed a JWT. Throws a 401 error unless the JWT is valid at one of `acceptedTimes`. */
  function authenticateApp(credential: string, acceptedTimes: readonly number[]): Caller {
    if (credential.startsWith('crs_'))
      throw unauthorized('A JWT signed by the app is needed, not an access token');
    const result = verifyAppJwt({ jwt: credential, acceptedTimes, strict, listAppKeys });
    if ('refusal' in result) throw unauthorized(result.refusal);
    return { ...NO_TOKEN, appId: result.appId };
  }

  /**
   * Checks that a request's credential meets an endpoint's requirement. Returns the caller and records it for the call log, or
   * throws a 401 or 403 error if access is denied.
   */
  function authorize(req: Request, requirement: AccessRequirement, organizationId: string): Caller {
    const credential = readBearerCredential(req);
    const caller =
      requirement === 'app JWT'
        ? authenticateApp(credential, listAcceptedTimes(req))
        : tokens.authenticate(credential);
    setCaller(req, caller);
    if (requirement === 'app JWT') return caller;
    if (caller.isSuspended) throw forbidden('The installation is suspended');
    if (requirement === 'any token') return caller;
    if (caller.organizationId !== null && caller.organizationId !== organizationId)
      throw forbidden('The token has no access to this organization');
    if (requirement === 'organization token') return caller;
    if (caller.organizationId === null) throw forbidden('An installation access token is needed');
    if (!hasPermission(caller.grants, requirement))
      throw forbidden(`The token has no permission ${requirement}`);
    return caller;
  }

  return { authorize };
}

/** Returns the token or JWT in the Authorization header. Throws a 401 error if the header has none. */
function readBearerCredential(req: Request): string {
  const header = req.get('authorization');
  if (header === undefined) throw unauthorized('The Authorization header is missing');
  const credential = BEARER.exec(header.trim())?.[1];
  if (credential === undefined) throw unauthorized('The Authorization header must be Bearer and a token');
  return credential;
}
