import type { AccessTokens } from '../../registry/auth/access-tokens.js';
import type { AppClient } from '../../registry/clients.js';
import { RegistryError } from '../../registry/errors.js';
import type { Installation } from '../../registry/model.js';
import type { ReadOptions } from '../../registry/read-types.js';

/** What an installation allows. No answer shows a state: it is worked out from what is answered and what is refused. */
export type Access =
  | {
      readonly state: 'active' | 'suspended';
      readonly installation: Installation;
      readonly organizationId: string;
    }
  | { readonly state: 'uninstalled' };

/** An active installation. */
export interface Opened {
  readonly installation: Pick<Installation, 'id' | 'permissions'>;
  readonly organizationId: string;
  readonly permissionsChanged: boolean;
}

export interface AccessOptions extends ReadOptions {
  readonly appId: string;
  /** What the mirror knew before. */
  readonly known: { readonly organizationId: string | null; readonly state: string } | null;
  /** Ask for a new token even where a good one seems to be at hand. */
  readonly prove: boolean;
}

/**
 * Gone (404 in the registry's own shape) means uninstalled. There, but refused a new token (403) although
 * the app itself was just answered: suspended. Anybody else's page means nothing at all.
 * Where the installation does not show its permissions, a new token tells what they are now.
 */
export async function readAccess(
  { app, tokens }: { readonly app: AppClient; readonly tokens: AccessTokens },
  installationId: string,
  { appId, known, prove, ...options }: AccessOptions,
): Promise<Access> {
  const installation = await orNull('not_found', app.readInstallation(installationId, options));
  if (installation === null) {
    tokens.forget(installationId);
    return { state: 'uninstalled' };
  }
  demandSame('the installation', installationId, installation.id);
  demandSame('the app', appId, installation.appId);
  demandSame('the organization', known?.organizationId ?? null, installation.organizationId);
  const isUnsaid = installation.permissions === null;
  if (prove || isUnsaid || known?.state !== 'active') tokens.forget(installationId);
  const expected = known?.organizationId ?? installation.organizationId ?? undefined;
  const issued = await orNull('forbidden', tokens.installation(installationId, expected).get());
  const organizationId =
    expected ?? (await app.createInstallationToken(installationId, options)).organizationId;
  if (organizationId === null)
    throw new RegistryError('bad_answer', 'installation: no organization is named');
  const permissions = installation.permissions ?? issued?.permissions ?? null;
  return {
    state: issued === null ? 'suspended' : 'active',
    installation: { ...installation, permissions },
    organizationId,
  };
}

async function orNull<T>(code: 'forbidden' | 'not_found', asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RegistryError && error.code === code) return null;
    throw error;
  }
}

/** Where one side says nothing, nothing is compared. */
function demandSame(what: string, expected: string | null, came: string | null): void {
  if (expected === null || came === null || expected === came) return;
  throw new RegistryError('bad_answer', `installation: ${what} is not the one that was asked for`);
}
