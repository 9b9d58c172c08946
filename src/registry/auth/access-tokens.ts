/**
 * The access tokens of an app and of its installations. Tokens live in memory only, are requested when a call needs one,
 * and are shared by all calls. They must never be stored or logged.
 */
import type { AccessToken, AppToken, InstallationToken, TokenSource } from '../http/credential.js';
import { RegistryError } from '../errors.js';
import type { Permissions } from '../model.js';
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
  /** Also returns the permissions of the token. */
  get(): Promise<IssuedToken<InstallationToken>>;
}

export interface AccessTokens {
  app(): TokenSource<AppToken>;
  /** With an organization, a token that names another one is refused. */
  installation(installationId: string, organizationId?: string): InstallationTokenSource;
  /** Reports the current permissions of an installation. A cached token with other permissions is not used again. */
  matchPermissions(installationId: string, permissions: Permissions | null): void;
  /** Drops the token of an installation that was uninstalled or suspended, even one that is still being requested. */
  forget(installationId: string): void;
  /** Returns the number of installations with a cache. Unusable caches are removed when another installation is added. */
  count(): number;
}

/** Creates the tokens of one app: a cache for the app itself and one for each installation. */
export function createAccessTokens({ issuer, now }: AccessTokensOptions): AccessTokens {
  const appCache = createTokenCache({ requestToken: () => issuer.createAppToken(), now });
  const caches = new Map<string, TokenCache<InstallationToken>>();

  function removeIdleCaches(): void {
    for (const [id, cache] of caches) if (cache.isIdle()) caches.delete(id);
  }

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
      async get() {
        const cache = getOrCreateCache(installationId);
        const issued = await cache.get();
        if (isCompatibleId(issued.organizationId, organizationId)) return issued;
        cache.refuse(issued.token);
        throw new RegistryError('bad_answer', 'The access token is for another organization');
      },
      refuse: token => caches.get(installationId)?.refuse(token),
    }),
    matchPermissions: (installationId, permissions) =>
      caches.get(installationId)?.matchPermissions(permissions),
    forget: installationId => {
      caches.delete(installationId);
    },
    count: () => caches.size,
  };
}

/** Requests a token of an installation. Throws if it belongs to another one, or the installation does not exist. */
async function requestInstallationToken(
  issuer: TokenIssuer,
  installationId: string,
): Promise<AccessToken<InstallationToken>> {
  const accessToken = await issuer.createInstallationToken(installationId).catch(error => {
    throw isNotFound(error) ? createInstallationGoneError(error) : error;
  });
  if (isCompatibleId(accessToken.installationId, installationId)) return accessToken;
  throw new RegistryError('bad_answer', 'The access token is for another installation');
}

/** A caller that reads another object must not take this 404 as the answer for that object, so it gets a code of its own. */
function createInstallationGoneError({
  call,
  status,
  registryMessage,
  message,
}: RegistryError): RegistryError {
  const text = `no access token for the installation: ${message}`;
  return new RegistryError('installation_gone', text, { call, status, registryMessage });
}

function isNotFound(error: unknown): error is RegistryError {
  return error instanceof RegistryError && error.code === 'not_found';
}

/** Whether two ids are equal, or one is unknown: the registry need not name the owner of a token, nor the caller know it. */
function isCompatibleId(sentId: string | null, expectedId: string | undefined): boolean {
  return sentId === null || expectedId === undefined || sentId === expectedId;
}
