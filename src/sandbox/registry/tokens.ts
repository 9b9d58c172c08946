import { createHash, randomBytes } from 'node:crypto';
import { toInstant } from '../store/clock.js';
import { forbidden } from '../http/errors.js';
import { narrower } from './permissions.js';
import { present } from './shapes.js';
import type { Grants, InstallationRow, TokenRow } from '../store/rows.js';
import type { Store } from '../store/store.js';

const LIFETIME_MS = 2 * 60 * 60 * 1000;

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

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens({ tables, clock, now, newId, verb }: Store) {
  const { tokens, installations } = tables;

  function show({ digest: _digest, permissions: _permissions, revokedAt, ...row }: TokenRow) {
    const { installationId, organizationId, ...shown } = row;
    const isActive = revokedAt === null && Date.parse(row.expiresAt) > clock.now();
    return { ...shown, ...present({ installationId, organizationId }), isActive };
  }

  const mint = verb('mint', (appId: string, installationId: string | null, digest: string) => {
    const installation = installations.get(installationId ?? '');
    const row: TokenRow = {
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

  const revoke = verb('revoke', (id: string) => {
    tokens.put({ ...tokens.find(id), revokedAt: now() });
    return {};
  });

  /** As if its time had come. */
  const expire = verb('expire token', (id: string) => {
    const row = tokens.find(id);
    const expiresAt = row.expiresAt < now() ? row.expiresAt : now();
    tokens.put({ ...row, expiresAt });
    return show({ ...row, expiresAt });
  });

  /** Who holds this token, if it is still good; refuses with the registry's own words if not. */
  function open(token: string): Caller {
    const row = tokens.named(digestOf(token));
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
      grants: narrower(row.permissions, installation?.permissions ?? {}),
    };
  }

  return {
    mint(appId: string, installation?: InstallationRow) {
      const token = `crs_${randomBytes(24).toString('hex')}`;
      const row = mint(appId, installation?.id ?? null, digestOf(token));
      const { permissions, createdAt: updatedAt } = row;
      return { ...show(row), updatedAt, token, permissions };
    },
    open,
    /** The token that the call was made with. */
    revoke: ({ tokenId }: Caller) => revoke(tokenId ?? ''),
    /** The human side: without what opens them. */
    newest: (limit: number) => tokens.newest(limit).map(show),
    expire,
  };
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
