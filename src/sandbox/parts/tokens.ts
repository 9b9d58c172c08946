import { createHash, randomBytes } from 'node:crypto';
import { toInstant } from '../store/clock.js';
import { forbidden, found } from '../http/errors.js';
import { type Grants, narrower, parseGrants } from './permissions.js';
import type { InstallationRow, InstallationState } from '../store/schema.js';
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

interface TokenRow {
  id: string;
  app_id: string;
  installation_id: string | null;
  organization_id: string | null;
  permissions: string;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  installation_state: InstallationState | null;
  granted: string | null;
}

/** Only a digest of each token is kept. */
export function createTokens({ db, clock, now, newId, write }: Store): Tokens {
  const insert = db.prepare<[string, string, string, string | null, string | null, string, string, string]>(
    `insert into tokens (id, digest, app_id, installation_id, organization_id, permissions, created_at, expires_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const find = db.prepare<[string], TokenRow>(
    `select t.id, t.app_id, t.installation_id, t.organization_id, t.permissions, t.created_at, t.expires_at, t.revoked_at,
            i.state as installation_state, i.permissions as granted
     from tokens t left join installations i on i.id = t.installation_id where t.digest = ?`,
  );
  const revoke = db.prepare<[string, string | null]>('update tokens set revoked_at = ? where id = ?');

  const newest = db.prepare<[number], TokenRow>('select * from tokens order by rowid desc limit ?');
  const byId = db.prepare<[string], TokenRow>('select * from tokens where id = ?');
  const shorten = db.prepare<[string, string]>(
    'update tokens set expires_at = min(expires_at, ?) where id = ?',
  );

  function list(row: TokenRow): TokenEntry {
    const { installation_id: installationId, organization_id: organizationId } = row;
    return {
      id: row.id,
      appId: row.app_id,
      ...(installationId !== null && { installationId }),
      ...(organizationId !== null && { organizationId }),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      isActive: row.revoked_at === null && Date.parse(row.expires_at) > clock.now(),
    };
  }

  function mint(appId: string, installation?: InstallationRow): TokenShape {
    const token = `crs_${randomBytes(24).toString('hex')}`;
    const id = newId();
    const createdAt = now();
    const expiresAt = toInstant(Date.parse(createdAt) + LIFETIME_MS);
    const permissions = installation?.permissions ?? '{}';
    const scope = {
      installation: installation?.id ?? null,
      organization: installation?.organization_id ?? null,
    };
    write(() =>
      insert.run(
        id,
        digest(token),
        appId,
        scope.installation,
        scope.organization,
        permissions,
        createdAt,
        expiresAt,
      ),
    );
    return {
      id,
      createdAt,
      updatedAt: createdAt,
      token,
      expiresAt,
      isActive: true,
      permissions: parseGrants(permissions),
      appId,
      ...(installation && { installationId: installation.id, organizationId: installation.organization_id }),
    };
  }

  function open(token: string): Caller {
    const row = find.get(digest(token));
    if (row === undefined || row.revoked_at !== null) throw forbidden('Access token invalid');
    if (Date.parse(row.expires_at) <= clock.now()) throw forbidden('Access token invalid: it has expired');
    if (row.installation_state === 'uninstalled')
      throw forbidden('Access token invalid: the app was uninstalled');
    const granted = parseGrants(row.granted ?? '{}');
    return {
      appId: row.app_id,
      tokenId: row.id,
      installationId: row.installation_id,
      organizationId: row.organization_id,
      isSuspended: row.installation_state === 'suspended',
      grants: narrower(parseGrants(row.permissions), granted),
    };
  }

  return {
    mint,
    open,
    revoke({ tokenId }) {
      write(at => revoke.run(at, tokenId));
      return {};
    },
    newest: limit => newest.all(limit).map(list),
    expire(id) {
      write(at => shorten.run(at, found(byId.get(id), 'Token').id));
      return list(found(byId.get(id), 'Token'));
    },
  };
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
