import { createHash, randomBytes } from 'node:crypto';
import { toInstant } from '../store/clock.js';
import { forbidden, found } from '../http/errors.js';
import { narrower } from './permissions.js';
import type { Grants, InstallationRow, TokenRow } from '../store/rows.js';
import type { Store } from '../store/store.js';

const LIFETIME_MS = 2 * 60 * 60 * 1000;

interface TokenShape {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly token: string;
  readonly expiresAt: string;
  readonly isActive: boolean;
  readonly permissions: Readonly<Record<string, string>>;
  readonly appId: string;
  readonly installationId?: string;
  readonly organizationId?: string;
}

type TokenEntry = Omit<TokenShape, 'token' | 'permissions' | 'updatedAt'>;

/** Whoever makes a call. */
export interface Caller {
  readonly appId: string;
  /** Null for a JWT. */
  readonly tokenId: string | null;
  /** Null for a JWT and for an app access token. */
  readonly installationId: string | null;
  readonly organizationId: string | null;
  readonly isSuspended: boolean;
  readonly grants: Grants;
}

export interface Tokens {
  mint(appId: string, installation?: InstallationRow): TokenShape;
  /** Who holds this token, if it is still good; refuses with the registry's own words if not. */
  open(token: string): Caller;
  /** The token that the call was made with. */
  revoke(caller: Caller): object;
  /** The human side: the newest first, without what opens them. */
  newest(limit: number): readonly TokenEntry[];
  /** As if its time had come. */
  expire(id: string): TokenEntry;
}

export function createTokens({ tables, clock, now, newId, verb }: Store): Tokens {
  const { tokens, installations } = tables;

  function list(row: TokenRow): TokenEntry {
    const { id, app_id: appId, installation_id: installationId, organization_id: organizationId } = row;
    return {
      id,
      appId,
      ...(installationId !== null && { installationId }),
      ...(organizationId !== null && { organizationId }),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      isActive: row.revoked_at === null && Date.parse(row.expires_at) > clock.now(),
    };
  }

  const mint = verb('mint', (app_id: string, installationId: string | null, digest: string) => {
    const installation = installations.get(installationId ?? '');
    const row: TokenRow = {
      id: newId(),
      digest,
      app_id,
      installation_id: installation?.id ?? null,
      organization_id: installation?.organization_id ?? null,
      permissions: installation?.permissions ?? {},
      created_at: now(),
      expires_at: toInstant(clock.now() + LIFETIME_MS),
      revoked_at: null,
    };
    tokens.put(row);
    return row;
  });

  const revoke = verb('revoke', (id: string) => {
    tokens.put({ ...found(tokens.get(id), 'Token'), revoked_at: now() });
    return {};
  });

  const expire = verb('expire token', (id: string) => {
    const row = found(tokens.get(id), 'Token');
    const expires_at = row.expires_at < now() ? row.expires_at : now();
    tokens.put({ ...row, expires_at });
    return list({ ...row, expires_at });
  });

  function open(token: string): Caller {
    const row = tokens.named(digestOf(token));
    if (row === undefined || row.revoked_at !== null) throw forbidden('Access token invalid');
    if (Date.parse(row.expires_at) <= clock.now()) throw forbidden('Access token invalid: it has expired');
    const installation = installations.get(row.installation_id ?? '');
    if (installation?.state === 'uninstalled')
      throw forbidden('Access token invalid: the app was uninstalled');
    return {
      appId: row.app_id,
      tokenId: row.id,
      installationId: row.installation_id,
      organizationId: row.organization_id,
      isSuspended: installation?.state === 'suspended',
      grants: narrower(row.permissions, installation?.permissions ?? {}),
    };
  }

  return {
    mint(appId, installation) {
      const token = `crs_${randomBytes(24).toString('hex')}`;
      const row = mint(appId, installation?.id ?? null, digestOf(token));
      const { permissions, created_at: updatedAt } = row;
      return { ...list(row), updatedAt, token, permissions };
    },
    open,
    revoke: ({ tokenId }) => revoke(tokenId ?? ''),
    newest: limit => tokens.page(tokens.count() - limit + 1, tokens.count()).map(list),
    expire,
  };
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
