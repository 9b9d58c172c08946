import type { AccessTokens } from '../auth/access-tokens.js';
import type { AppClient } from '../registry/app-client.js';
import { RegistryError } from '../registry/errors.js';
import type { Installation } from '../registry/model.js';
import type { ReadOptions } from '../registry/reading.js';

/** What the registry lets us do through one installation. No answer shows its state: it is worked out from what is allowed. */
export type Access =
  | {
      readonly state: 'active' | 'suspended';
      readonly installation: Installation;
      readonly organizationId: string;
    }
  | { readonly state: 'uninstalled' };

export interface AccessClients {
  readonly app: AppClient;
  readonly tokens: AccessTokens;
  readonly appId: string;
}

/** What the mirror knew before. */
export interface KnownInstallation {
  readonly organizationId: string | null;
  readonly state: string;
}

/**
 * Gone (404 in the registry's own shape) means uninstalled. There, but refused a new token (403) although
 * the app itself was just answered: suspended. `prove` asks for a new token even where a good one seems to be at hand.
 */
export async function readAccess(
  { app, tokens, appId }: AccessClients,
  installationId: string,
  {
    known,
    prove,
    ...options
  }: ReadOptions & { readonly known: KnownInstallation | null; readonly prove: boolean },
): Promise<Access> {
  const installation = await orNull('not_found', app.readInstallation(installationId, options));
  if (installation === null) {
    tokens.forget(installationId);
    return { state: 'uninstalled' };
  }
  demandSame('the installation', installationId, installation.id);
  if (installation.appId !== null) demandSame('the app', appId, installation.appId);
  tokens.matchPermissions(installationId, installation.permissions);
  if (prove || known?.state !== 'active') tokens.forget(installationId);
  const expected = known?.organizationId ?? installation.organizationId ?? undefined;
  if (installation.organizationId !== null)
    demandSame('the organization', expected, installation.organizationId);
  const issued = await orNull('forbidden', tokens.installation(installationId, expected).get());
  const organizationId =
    expected ?? (await app.createInstallationToken(installationId, options)).organizationId;
  if (organizationId === null)
    throw new RegistryError('bad_answer', 'installation: no organization is named');
  return { state: issued === null ? 'suspended' : 'active', installation, organizationId };
}

/** One call: whether a suspended installation still is. */
export async function isStillSuspended(tokens: AccessTokens, installationId: string): Promise<boolean> {
  tokens.forget(installationId);
  return (await orNull('forbidden', tokens.installation(installationId).get())) === null;
}

async function orNull<T>(code: 'forbidden' | 'not_found', asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RegistryError && error.code === code) return null;
    throw error;
  }
}

function demandSame(what: string, expected: string | undefined, came: string): void {
  if (expected === undefined || expected === came) return;
  throw new RegistryError('bad_answer', `installation: ${what} is not the one that was asked for`);
}
