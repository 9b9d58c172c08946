import type { AccessToken } from '../http/credential.js';
import type { Permissions } from '../object-models.js';

/**
 * How long before its expiry a token is renewed. A token whose lifetime is under ten minutes is renewed after half of the lifetime.
 */
const RENEW_BEFORE_EXPIRY_MS = 5 * 60_000;
/** The lifetime of a token that has no expiry, or one in the past. */
const DEFAULT_LIFETIME_MS = 10 * 60_000;
/** If the clock steps back further than this, the age of a token is unknown, so it is not used. */
const MAX_CLOCK_STEP_BACK_MS = 2 * 60_000;

export interface TokenCacheOptions<T extends string> {
  readonly requestToken: () => Promise<AccessToken<T>>;
  readonly now: () => number;
}

export interface IssuedToken<T extends string> {
  readonly token: T;
  /** Whether the token was requested for this call. */
  readonly fresh: boolean;
  readonly organizationId: string | null;
  readonly permissions: Permissions | null;
}

interface CachedToken<T extends string> {
  readonly accessToken: AccessToken<T>;
  readonly receivedAtMs: number;
  readonly renewAtMs: number;
  /** The granted permissions that were known when this token was requested. */
  readonly permissionsAtRequest: string | undefined;
}

export type TokenCache<T extends string> = ReturnType<typeof createTokenCache<T>>;

/** Creates a cache for one access token. Concurrent calls that need a new token share one token request. */
export function createTokenCache<T extends string>({ requestToken, now }: TokenCacheOptions<T>) {
  let cached: CachedToken<T> | undefined;
  let pendingRequest: Promise<AccessToken<T>> | undefined;
  let grantedPermissions: string | undefined;

  /**
   * Whether a cached token has the permissions that are granted now. Also true if the permissions of the token or the granted
   * permissions are unknown, or if the granted permissions have not changed since the token was requested.
   */
  function hasCurrentPermissions({
    accessToken: { permissions },
    permissionsAtRequest,
  }: CachedToken<T>): boolean {
    // Keep a token that was requested after the change: replacing it again would loop forever.
    if (grantedPermissions === undefined || grantedPermissions === permissionsAtRequest) return true;
    return permissions === null || grantedPermissions === serializePermissions(permissions);
  }

  /** Returns the cached token, or undefined if its permissions are outdated or it is due for renewal. */
  function getUsableToken(): CachedToken<T> | undefined {
    const isUsable =
      cached !== undefined && hasCurrentPermissions(cached) && isNotDueForRenewal(cached, now());
    return isUsable ? cached : undefined;
  }

  /** Requests a new token and caches it. */
  async function requestAndCacheToken(): Promise<AccessToken<T>> {
    const permissionsAtRequest = grantedPermissions;
    const accessToken = await requestToken();
    cached = createCachedToken(accessToken, now(), permissionsAtRequest);
    return accessToken;
  }

  return {
    /**
     * Returns the cached token, or requests and caches a new one if the token is due for renewal or its permissions are
     * outdated. Concurrent calls share one request.
     */
    async get(): Promise<IssuedToken<T>> {
      const usable = getUsableToken();
      if (usable !== undefined) return toIssuedToken(usable.accessToken, false);
      pendingRequest ??= requestAndCacheToken().finally(() => {
        pendingRequest = undefined;
      });
      return toIssuedToken(await pendingRequest, true);
    },
    /** Discards a token that the registry refused. */
    discard(token: T): void {
      if (cached?.accessToken.token === token) cached = undefined;
    },
    /** Sets the permissions that are granted now. A cached token with other permissions is discarded. */
    setGrantedPermissions(permissions: Permissions | null): void {
      if (permissions !== null) grantedPermissions = serializePermissions(permissions);
    },
    /** Whether there is no usable token and none is being requested. */
    isIdle: () => pendingRequest === undefined && getUsableToken() === undefined,
  };
}

/** Returns a token without its expiry. `fresh` means that the token was requested for this call. */
function toIssuedToken<T extends string>(accessToken: AccessToken<T>, fresh: boolean): IssuedToken<T> {
  const { token, organizationId, permissions } = accessToken;
  return { token, fresh, organizationId, permissions };
}

/**
 * Creates a cache entry for a new token. The token is due for renewal five minutes before its expiry. A token whose lifetime is
 * under ten minutes is due after half of the lifetime.
 */
function createCachedToken<T extends string>(
  accessToken: AccessToken<T>,
  nowMs: number,
  permissionsAtRequest: string | undefined,
): CachedToken<T> {
  const sentLifetimeMs = Date.parse(accessToken.expiresAt) - nowMs;
  const lifetimeMs = sentLifetimeMs > 0 ? sentLifetimeMs : DEFAULT_LIFETIME_MS;
  const renewBeforeMs = Math.min(RENEW_BEFORE_EXPIRY_MS, lifetimeMs / 2);
  return {
    accessToken,
    receivedAtMs: nowMs,
    renewAtMs: nowMs + lifetimeMs - renewBeforeMs,
    permissionsAtRequest,
  };
}

/** Whether a cached token can be used without renewal. */
function isNotDueForRenewal({ receivedAtMs, renewAtMs }: CachedToken<string>, nowMs: number): boolean {
  return nowMs < renewAtMs && nowMs >= receivedAtMs - MAX_CLOCK_STEP_BACK_MS;
}

/** Serializes permissions, in any order, to a text by which they can be compared. */
function serializePermissions(permissions: Permissions): string {
  const grants = Object.entries(permissions).map(([name, level]) => `${name}:${level.toUpperCase()}`);
  return JSON.stringify(grants.sort());
}
