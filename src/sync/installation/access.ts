import type { AccessTokens } from '../../registry/auth/access-tokens.js';
import type { AppClient } from '../../registry/client-types.js';
import { RegistryError } from '../../registry/errors.js';
import type { Installation } from '../../registry/object-models.js';
import type { ReadOptions } from '../../registry/read-types.js';

/**
 * The state of an installation. The registry does not send the state: it follows from what the registry answers and
 * refuses.
 */
export type InstallationAccess =
  | {
      readonly state: 'active' | 'suspended';
      readonly installation: Installation;
      readonly organizationId: string;
    }
  | { readonly state: 'uninstalled' };

/** An installation that may be read. */
export interface ActiveInstallation {
  readonly installation: Pick<Installation, 'id' | 'permissions'>;
  readonly organizationId: string;
  readonly permissionsChanged: boolean;
}

/** What `readAccess` needs besides the client and the id of the installation. */
export interface AccessOptions extends ReadOptions {
  readonly appId: string;
  /** The installation as the mirror knew it before; null if it is new. */
  readonly storedInstallation: { readonly organizationId: string | null; readonly state: string } | null;
  /** Request a new token even if a cached one seems valid. */
  readonly renewToken: boolean;
}

/**
 * Requests an installation and its token from the registry, and concludes whether the installation is active, suspended or
 * uninstalled.
 */
export async function readAccess(
  { app, tokens }: { readonly app: AppClient; readonly tokens: AccessTokens },
  installationId: string,
  { appId, storedInstallation, renewToken, ...options }: AccessOptions,
): Promise<InstallationAccess> {
  const installation = await awaitOrNull('not_found', app.readInstallation(installationId, options));
  if (installation === null) {
    tokens.forget(installationId);
    return { state: 'uninstalled' };
  }
  assertSameId('installation', installationId, installation.id);
  assertSameId('app', appId, installation.appId);
  assertSameId('organization', storedInstallation?.organizationId ?? null, installation.organizationId);
  // Hidden permissions are taken from a new token.
  const hidesPermissions = installation.permissions === null;
  if (renewToken || hidesPermissions || storedInstallation?.state !== 'active') tokens.forget(installationId);
  const expectedId = storedInstallation?.organizationId ?? installation.organizationId ?? undefined;
  // The registry refuses a token for a suspended installation.
  const token = await awaitOrNull('forbidden', tokens.installation(installationId, expectedId).get());
  const organizationId =
    expectedId ?? (await app.createInstallationToken(installationId, options)).organizationId;
  if (organizationId === null)
    throw new RegistryError('bad_answer', 'installation: the answer names no organization');
  const permissions = installation.permissions ?? token?.permissions ?? null;
  return {
    state: token === null ? 'suspended' : 'active',
    installation: { ...installation, permissions },
    organizationId,
  };
}

/** Awaits a request. Returns null if the request fails with this error code. */
async function awaitOrNull<T>(code: 'forbidden' | 'not_found', request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof RegistryError && error.code === code) return null;
    throw error;
  }
}

/** Throws if the id in an answer is not the expected one. Null stands for an unknown id and is always accepted. */
function assertSameId(name: string, expected: string | null, actual: string | null): void {
  if (expected === null || actual === null || expected === actual) return;
  throw new RegistryError('bad_answer', `installation: the answer is for another ${name}`);
}
