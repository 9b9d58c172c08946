import type { AccessToken } from '../http/credential.js';
import type { Permissions } from '../model.js';

/** A token is replaced this long before it expires, or after half of its lifetime if that is short. */
const RENEW_BEFORE_EXPIRY_MS = 5 * 60_000;
/** Assumed if a token names no expiry, or one in the past. */
const DEFAULT_LIFETIME_MS = 10 * 60_000;
/** If the clock steps back further than this, the age of a token is unknown and it is not used. */
const MAX_CLOCK_STEP_BACK_MS = 2 * 60_000;

export interface TokenCacheOptions<T extends string> {
  readonly requestToken: () => Promise<AccessToken<T>>;
  readonly now: () => number;
}

export interface IssuedToken<T extends string> {
  readonly token: T;
  /** Whether the token was requested for this very call. */
  readonly fresh: boolean;
  readonly organizationId: string | null;
  readonly permissions: Permissions | null;
}

interface CachedToken<T extends string> {
  readonly accessToken: AccessToken<T>;
  readonly receivedAtMs: number;
  readonly renewAtMs: number;
  /** The granted permissions that were known when this token was requested. */
  readonly grantedAtRequest: string | undefined;
}

export type TokenCache<T extends string> = ReturnType<typeof createTokenCache<T>>;

/** Creates a cache for the token of one installation, or of the app. Calls that need a new token at the same time share one request. */
export function createTokenCache<T extends string>({ requestToken, now }: TokenCacheOptions<T>) {
  let cached: CachedToken<T> | undefined;
  let pendingRequest: Promise<AccessToken<T>> | undefined;
  let grantedPermissions: string | undefined;

  /** A token that was requested after the permissions became known is kept as it is: dropping it again would loop forever. */
  function hasGrantedPermissions({
    accessToken: { permissions },
    grantedAtRequest,
  }: CachedToken<T>): boolean {
    if (grantedPermissions === undefined || grantedPermissions === grantedAtRequest) return true;
    return permissions === null || grantedPermissions === serializePermissions(permissions);
  }

  function getUsable(): CachedToken<T> | undefined {
    const isUsable = cached !== undefined && hasGrantedPermissions(cached) && isCurrent(cached, now());
    return isUsable ? cached : undefined;
  }

  /** Requests a new token and stores it in the cache. */
  async function requestAndCache(): Promise<AccessToken<T>> {
    const grantedAtRequest = grantedPermissions;
    const accessToken = await requestToken();
    cached = createCachedToken(accessToken, now(), grantedAtRequest);
    return accessToken;
  }

  return {
    async get(): Promise<IssuedToken<T>> {
      const usable = getUsable();
      if (usable !== undefined) return toIssuedToken(usable.accessToken, false);
      pendingRequest ??= requestAndCache().finally(() => {
        pendingRequest = undefined;
      });
      return toIssuedToken(await pendingRequest, true);
    },
    refuse(token: T): void {
      if (cached?.accessToken.token === token) cached = undefined;
    },
    matchPermissions(permissions: Permissions | null): void {
      if (permissions !== null) grantedPermissions = serializePermissions(permissions);
    },
    /** Whether there is no usable token and none is being requested. */
    isIdle: () => pendingRequest === undefined && getUsable() === undefined,
  };
}

function toIssuedToken<T extends string>(accessToken: AccessToken<T>, fresh: boolean): IssuedToken<T> {
  const { token, organizationId, permissions } = accessToken;
  return { token, fresh, organizationId, permissions };
}

/** Creates a cache entry for a token that was just received, with the time at which to renew it. */
function createCachedToken<T extends string>(
  accessToken: AccessToken<T>,
  nowMs: number,
  grantedAtRequest: string | undefined,
): CachedToken<T> {
  const sentLifetimeMs = Date.parse(accessToken.expiresAt) - nowMs;
  const lifetimeMs = sentLifetimeMs > 0 ? sentLifetimeMs : DEFAULT_LIFETIME_MS;
  const renewBeforeMs = Math.min(RENEW_BEFORE_EXPIRY_MS, lifetimeMs / 2);
  return {
    accessToken,
    receivedAtMs: nowMs,
    renewAtMs: nowMs + lifetimeMs - renewBeforeMs,
    grantedAtRequest,
  };
}

/** Whether a cached token need not be renewed yet. */
function isCurrent({ receivedAtMs, renewAtMs }: CachedToken<string>, nowMs: number): boolean {
  return nowMs < renewAtMs && nowMs >= receivedAtMs - MAX_CLOCK_STEP_BACK_MS;
}

/** Returns the same text for equal permissions, whatever their order and the case of their levels. */
function serializePermissions(permissions: Permissions): string {
  const grants = Object.entries(permissions).map(([name, level]) => `${name}:${level.toUpperCase()}`);
  return JSON.stringify(grants.sort());
}
