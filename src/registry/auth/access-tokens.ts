/**
 * The access tokens of an app and of its installations. Tokens live in memory only, are requested when a call needs one,
 * and are shared by all calls. They must never be stored or logged.
 */
import type { AccessToken, AppToken, InstallationToken, TokenSource } from '../http/credential.js';
import { RegistryError } from '../errors.js';
import type { Permissions } from '../object-models.js';
import { createTokenCache, type IssuedToken, type TokenCache } from './token-cache.js';

/** The part of the app client that requests tokens. */
interface TokenIssuer {
  createAppToken(): Promise<AccessToken<AppToken>>;
  createInstallationToken(installationId: string): Promise<AccessToken<InstallationToken>>;
}

export interface AccessTokensOptions {
  readonly issuer: TokenIssuer;
  /** Returns epoch milliseconds, corrected to the registry's clock. */
  readonly now: () => number;
}

interface InstallationTokenSource extends TokenSource<InstallationToken> {
  /** Returns a token together with its permissions. */
  get(): Promise<IssuedToken<InstallationToken>>;
}

/** The access tokens of one app, cached until shortly before they expire. */
export interface AccessTokens {
  /** Returns the token source of the app itself. */
  app(): TokenSource<AppToken>;
  /** Returns the token source of an installation. With `organizationId`, tokens of other organizations are rejected. */
  installation(installationId: string, organizationId?: string): InstallationTokenSource;
  /** Sets the permissions that an installation grants now. A cached token with other permissions is discarded. */
  setGrantedPermissions(installationId: string, permissions: Permissions | null): void;
  /** Discards the token of an installation that was uninstalled or suspended. */
  forget(installationId: string): void;
  /** Returns the number of installations with a token cache. */
  count(): number;
}

/** Creates the token caches of an app: one for the app itself and one for each of its installations. */
export function createAccessTokens({ issuer, now }: AccessTokensOptions): AccessTokens {
  const appCache = createTokenCache({ requestToken: () => issuer.createAppToken(), now });
  const caches = new Map<string, TokenCache<InstallationToken>>();

  /** Removes each cache that has no usable token and no pending token request. */
  function removeIdleCaches(): void {
    for (const [id, cache] of caches) if (cache.isIdle()) caches.delete(id);
  }

  /** Returns the token cache of an installation. If there is none, removes idle caches and creates one. */
  function getOrCreateCache(installationId: string): TokenCache<InstallationToken> {
    const existing = caches.get(installationId);
    if (existing !== undefined) return existing;
    removeIdleCaches();
    const requestToken = () => requestInstallationToken(issuer, installationId);
    const cache = createTokenCache({ requestToken, now });
    caches.set(installationId, cache);
    return cache;
  }

  return {
    app: () => appCache,
    installation: (installationId, organizationId) => ({
      /**
       * Returns an access token of the installation. Throws if the token belongs to an organization other than
       * `organizationId`.
       */
      async get() {
        const cache = getOrCreateCache(installationId);
        const issued = await cache.get();
        if (isSameOrUnknownId(issued.organizationId, organizationId)) return issued;
        cache.discard(issued.token);
        throw new RegistryError('bad_answer', 'The access token is for another organization');
      },
      discard: token => caches.get(installationId)?.discard(token),
    }),
    setGrantedPermissions: (installationId, permissions) =>
      caches.get(installationId)?.setGrantedPermissions(permissions),
    forget: installationId => {
      caches.delete(installationId);
    },
    count: () => caches.size,
  };
}

/** Requests an access token of an installation. Throws if the response has a token of another installation. */
async function requestInstallationToken(
  issuer: TokenIssuer,
  installationId: string,
): Promise<AccessToken<InstallationToken>> {
  const accessToken = await issuer.createInstallationToken(installationId).catch(error => {
    throw isNotFound(error) ? createInstallationGoneError(error) : error;
  });
  if (isSameOrUnknownId(accessToken.installationId, installationId)) return accessToken;
  throw new RegistryError('bad_answer', 'The access token is for another installation');
}

/** Converts the error `not_found` of a token request to `installation_gone`: the installation does not exist. */
function createInstallationGoneError({
  call,
  status,
  registryMessage,
  message,
}: RegistryError): RegistryError {
  // A plain `not_found` would look as if the object that the caller reads did not exist.
  const text = `no access token for the installation: ${message}`;
  return new RegistryError('installation_gone', text, { call, status, registryMessage });
}

function isNotFound(error: unknown): error is RegistryError {
  return error instanceof RegistryError && error.code === 'not_found';
}

/** Whether the id in a response is the expected one. Also true if the response has no id or none is expected. */
function isSameOrUnknownId(receivedId: string | null, expectedId: string | undefined): boolean {
  // The registry may leave out the owner of a token, and the caller may not know it.
  return receivedId === null || expectedId === undefined || receivedId === expectedId;
}
