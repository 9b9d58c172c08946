import type { AccessToken } from '../http/credential.js';
import type { Permissions } from '../model.js';

const RETIRED_EARLY_MS = 5 * 60_000;
/** For a token that does not say when it ends, or says a time gone by. Half of it is used. */
const UNKNOWN_LIFETIME_MS = 10 * 60_000;
/** A clock that steps back further than this makes the age of a token unknown. */
const STEP_BACK_MS = 2 * 60_000;

export interface TokenSlotOptions<T extends string> {
  readonly mint: () => Promise<AccessToken<T>>;
  readonly now: () => number;
}

export interface Issued<T extends string> {
  readonly token: T;
  readonly fresh: boolean;
  readonly organizationId: string | null;
  readonly permissions: Permissions | null;
}

interface Kept<T extends string> {
  readonly minted: AccessToken<T>;
  readonly mintedAtMs: number;
  readonly retiredAtMs: number;
  /** What the installation was known to grant when this token was asked for. */
  readonly knowing: string | undefined;
}

export type TokenSlot<T extends string> = ReturnType<typeof createTokenSlot<T>>;

/** Holds the one token of one installation, or of the app. */
export function createTokenSlot<T extends string>(options: TokenSlotOptions<T>) {
  let kept: Kept<T> | undefined;
  let flight: Promise<AccessToken<T>> | undefined;
  let granted: string | undefined;

  /** A token asked for after the permissions were known is not dropped for them again: it would have no end. */
  function fits({ minted: { permissions }, knowing }: Kept<T>): boolean {
    if (granted === undefined || granted === knowing) return true;
    return permissions === null || granted === fingerprint(permissions);
  }

  const usable = () => (kept !== undefined && fits(kept) && isAlive(kept, options.now()) ? kept : undefined);

  async function mint(): Promise<AccessToken<T>> {
    const knowing = granted;
    const minted = await options.mint();
    kept = keep(minted, options.now(), knowing);
    return minted;
  }

  return {
    async get(): Promise<Issued<T>> {
      const held = usable();
      if (held !== undefined) return issue(held.minted, false);
      flight ??= mint().finally(() => {
        flight = undefined;
      });
      return issue(await flight, true);
    },
    refuse(token: T): void {
      if (kept?.minted.token === token) kept = undefined;
    },
    matchPermissions(permissions: Permissions | null): void {
      if (permissions !== null) granted = fingerprint(permissions);
    },
    /** Nothing in it can be used any more, and nothing is on its way. */
    isIdle: () => flight === undefined && usable() === undefined,
  };
}

function issue<T extends string>(minted: AccessToken<T>, fresh: boolean): Issued<T> {
  return {
    token: minted.token,
    fresh,
    organizationId: minted.organizationId,
    permissions: minted.permissions,
  };
}

function keep<T extends string>(minted: AccessToken<T>, nowMs: number, knowing: string | undefined): Kept<T> {
  const told = Date.parse(minted.expiresAt) - nowMs;
  const lifetimeMs = told > 0 ? told : UNKNOWN_LIFETIME_MS;
  const earlyMs = Math.min(RETIRED_EARLY_MS, lifetimeMs / 2);
  return { minted, mintedAtMs: nowMs, retiredAtMs: nowMs + lifetimeMs - earlyMs, knowing };
}

function isAlive(held: Kept<string>, nowMs: number): boolean {
  return nowMs < held.retiredAtMs && nowMs >= held.mintedAtMs - STEP_BACK_MS;
}

function fingerprint(permissions: Permissions): string {
  const grants = Object.entries(permissions).map(([name, level]) => `${name}:${level.toUpperCase()}`);
  return JSON.stringify(grants.sort());
}
