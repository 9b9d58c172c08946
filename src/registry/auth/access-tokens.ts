import type { AccessToken, AppToken, InstallationToken, TokenSource } from '../http/credential.js';
import { RegistryError } from '../errors.js';
import type { Permissions } from '../model.js';
import { createTokenSlot, type Issued, type TokenSlot } from './token-slot.js';

/** What of the app client is called here. */
interface TokenMint {
  createAppToken(): Promise<AccessToken<AppToken>>;
  createInstallationToken(installationId: string): Promise<AccessToken<InstallationToken>>;
}

export interface AccessTokensOptions {
  readonly mint: TokenMint;
  /** Epoch milliseconds, corrected to the registry's time. */
  readonly now: () => number;
}

/** A source that also says what its token may do. */
interface InstallationTokens extends TokenSource<InstallationToken> {
  get(): Promise<Issued<InstallationToken>>;
}

/** Access tokens live in memory only and are minted when one is asked for. */
export interface AccessTokens {
  app(): TokenSource<AppToken>;
  /** Where the organization is given, a token for another one is refused. */
  installation(installationId: string, organizationId?: string): InstallationTokens;
  /** To be told of each read of the installation: a token with other permissions is not used again. */
  matchPermissions(installationId: string, permissions: Permissions | null): void;
  /** After an uninstall or a suspension. A token still on its way is not kept either. */
  forget(installationId: string): void;
  /** Installations held; those with nothing of use are swept when another one comes. */
  count(): number;
}

export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { mint, now } = options;
  const appSlot = createTokenSlot({ mint: () => mint.createAppToken(), now });
  const slots = new Map<string, TokenSlot<InstallationToken>>();

  function sweep(): void {
    for (const [id, slot] of slots) if (slot.isIdle()) slots.delete(id);
  }

  function openSlot(installationId: string): TokenSlot<InstallationToken> {
    const known = slots.get(installationId);
    if (known !== undefined) return known;
    sweep();
    const slot = createTokenSlot({ mint: () => mintFor(mint, installationId), now });
    slots.set(installationId, slot);
    return slot;
  }

  return {
    app: () => appSlot,
    installation: (installationId, organizationId) => ({
      async get() {
        const slot = openSlot(installationId);
        const issued = await slot.get();
        if (belongsTo(issued.organizationId, organizationId)) return issued;
        slot.refuse(issued.token);
        throw new RegistryError('bad_answer', 'The access token is for another organization');
      },
      refuse: token => slots.get(installationId)?.refuse(token),
    }),
    matchPermissions: (installationId, permissions) =>
      slots.get(installationId)?.matchPermissions(permissions),
    forget: installationId => {
      slots.delete(installationId);
    },
    count: () => slots.size,
  };
}

async function mintFor(mint: TokenMint, installationId: string): Promise<AccessToken<InstallationToken>> {
  const minted = await mint.createInstallationToken(installationId).catch(error => {
    throw isNotFound(error) ? gone(error) : error;
  });
  if (belongsTo(minted.installationId, installationId)) return minted;
  throw new RegistryError('bad_answer', 'The access token is for another installation');
}

/** Whoever asked for something else must not take it for the answer to that. */
function gone({ call, status, registryMessage, message }: RegistryError): RegistryError {
  const text = `no access token for the installation: ${message}`;
  return new RegistryError('installation_gone', text, { call, status, registryMessage });
}

function isNotFound(error: unknown): error is RegistryError {
  return error instanceof RegistryError && error.code === 'not_found';
}

/** The registry need not say whom a token is for, and the caller need not know. */
function belongsTo(told: string | null, asked: string | undefined): boolean {
  return told === null || asked === undefined || told === asked;
}
