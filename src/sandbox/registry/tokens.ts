import { createHash, randomBytes } from 'node:crypto';
import { toInstant } from '../store/clock.js';
import { forbidden } from '../http/api-errors.js';
import { intersectGrants } from './permissions.js';
import { omitNulls } from './to-json.js';
import type { PermissionGrants, InstallationRecord, TokenRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';

const LIFETIME_MS = 2 * 60 * 60 * 1000;

/** The authenticated caller of a request. */
export interface Caller {
  readonly appId: string;
  /** Null if the caller used a JWT. */
  readonly tokenId: string | null;
  /** Null if the caller used a JWT or an app access token. */
  readonly installationId: string | null;
  readonly organizationId: string | null;
  readonly isSuspended: boolean;
  readonly grants: PermissionGrants;
}

export type TokenService = ReturnType<typeof createTokenService>;

/** Creates the service that creates, verifies and revokes access tokens. */
export function createTokenService({ tables, clock, now, newId, defineOperation }: SandboxStore) {
  const { tokens, installations } = tables;

  /** Converts a stored token to JSON, which does not contain the secret. */
  function toTokenJson({ digest: _digest, permissions: _permissions, revokedAt, ...row }: TokenRecord) {
    const { installationId, organizationId, ...shown } = row;
    const isActive = revokedAt === null && Date.parse(row.expiresAt) > clock.now();
    return { ...shown, ...omitNulls({ installationId, organizationId }), isActive };
  }

  const mint = defineOperation('mint', (appId: string, installationId: string | null, digest: string) => {
    const installation = installations.get(installationId ?? '');
    const row: TokenRecord = {
      id: newId(),
      digest,
      appId,
      installationId: installation?.id ?? null,
      organizationId: installation?.organizationId ?? null,
      permissions: installation?.permissions ?? {},
      createdAt: now(),
      expiresAt: toInstant(clock.now() + LIFETIME_MS),
      revokedAt: null,
    };
    tokens.put(row);
    return row;
  });

  const revoke = defineOperation('revoke', (id: string) => {
    tokens.put({ ...tokens.getOrThrow(id), revokedAt: now() });
    return {};
  });

  /** Expires a token immediately. */
  const expire = defineOperation('expire token', (id: string) => {
    const row = tokens.getOrThrow(id);
    const expiresAt = row.expiresAt < now() ? row.expiresAt : now();
    tokens.put({ ...row, expiresAt });
    return toTokenJson({ ...row, expiresAt });
  });

  /** Returns the caller that an access token belongs to. Throws a 403 error if the access token is not valid. */
  function authenticate(token: string): Caller {
    const row = tokens.getByName(hashToken(token));
    if (row === undefined || row.revokedAt !== null) throw forbidden('Access token invalid');
    if (Date.parse(row.expiresAt) <= clock.now()) throw forbidden('Access token invalid: it has expired');
    const installation = installations.get(row.installationId ?? '');
    if (installation?.state === 'uninstalled')
      throw forbidden('Access token invalid: the app was uninstalled');
    return {
      appId: row.appId,
      tokenId: row.id,
      installationId: row.installationId,
      organizationId: row.organizationId,
      isSuspended: installation?.state === 'suspended',
      grants: intersectGrants(row.permissions, installation?.permissions ?? {}),
    };
  }

  return {
    /**
     * Creates an access token for an installation, or for the app itself if no installation is given. Returns the JSON of the
     * token with its secret.
     */
    mint(appId: string, installation?: InstallationRecord) {
      const token = `crs_${randomBytes(24).toString('hex')}`;
      const row = mint(appId, installation?.id ?? null, hashToken(token));
      const { permissions, createdAt: updatedAt } = row;
      return { ...toTokenJson(row), updatedAt, token, permissions };
    },
    authenticate,
    /** Revokes the access token that the caller sent. */
    revoke: ({ tokenId }: Caller) => revoke(tokenId ?? ''),
    /** Lists the newest access tokens of all apps. */
    listNewest: (limit: number) => tokens.listNewest(limit).map(toTokenJson),
    expire,
  };
}

/** Returns the SHA-256 digest of an access token. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
