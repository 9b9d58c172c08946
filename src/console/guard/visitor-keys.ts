import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface VisitorKeysOptions {
  /** Signs the keys. It is kept in a file that only this user can read. */
  readonly secret: Buffer;
  readonly now: () => number;
}

const SIGN_IN_KEY_MS = 12 * 3_600_000;
const DAY_MS = 86_400_000;
const VISITOR_KEY_MS = 30 * DAY_MS;

export type VisitorKeys = ReturnType<typeof createVisitorKeys>;

/**
 * Creates the functions that issue and check the keys of the console. A sign-in key is part of a sign-in link and works once. A
 * visitor key identifies a visitor who has signed in. A page token proves that a form comes from a page of the console.
 */
export function createVisitorKeys({ secret, now }: VisitorKeysOptions) {
  const createdAt = now();
  const createdTick = performance.now();
  const usedKeys = new Map<string, number>();

  const sign = (text: string): string => createHmac('sha256', secret).update(text).digest('base64url');
  const createKey = (kind: VisitorKeyKind, expiry: number): string => {
    const text = `${kind}.${expiry}.${randomBytes(16).toString('base64url')}`;
    return `${text}.${sign(text)}`;
  };
  const isValid = (key: string, kind: VisitorKeyKind): boolean => {
    const { text, signature } = splitSignature(key);
    return text.startsWith(`${kind}.`) && isSameSignature(sign(text), signature) && getExpiry(text) > now();
  };

  const getDay = (): number => Math.floor(now() / DAY_MS);
  const signPage = (identity: string, day: number): string => sign(`page.${day}.${identity}`);

  /** Returns when this process started. Returns an earlier instant if the clock was set back since the start. */
  const getStart = (): number => Math.min(createdAt, now() - (performance.now() - createdTick));
  /** Returns whether a key was created before this process started. */
  const wasMintedBeforeStart = (key: string): boolean => getExpiry(key) - SIGN_IN_KEY_MS < getStart();

  return {
    /** Creates the key of a sign-in link. The key works once. */
    createSignInKey: () => createKey('once', now() + SIGN_IN_KEY_MS),
    /** Exchanges a sign-in key for a visitor key. Returns null if the key is invalid or may have been used. */
    exchangeSignInKey: (signInKey: string): string | null => {
      for (const [key, expiry] of usedKeys) if (expiry <= now()) usedKeys.delete(key);
      // This process cannot know whether a key from before the start was used already.
      if (!isValid(signInKey, 'once') || usedKeys.has(signInKey) || wasMintedBeforeStart(signInKey))
        return null;
      usedKeys.set(signInKey, getExpiry(signInKey));
      return createKey('visit', now() + VISITOR_KEY_MS);
    },
    isVisitorKey: (key: string): boolean => isValid(key, 'visit'),
    /** Creates the token of the forms on a visitor's pages, and the check of tokens that this visitor posts. */
    createPageToken: (identity: string): PageToken => ({
      pageToken: signPage(identity, getDay()),
      isPageToken: (token: string): boolean =>
        [getDay(), getDay() - 1].some(day => isSameSignature(token, signPage(identity, day))),
    }),
  };
}

/** The token stays the same for a day, so that live pages do not change because of it. It is valid until the end of the next day. */
export interface PageToken {
  readonly pageToken: string;
  readonly isPageToken: (token: string) => boolean;
}

/** `once` is a sign-in key, `visit` a visitor key. */
type VisitorKeyKind = 'once' | 'visit';

/** Splits a console key into its signed text and its signature. */
function splitSignature(key: string): { readonly text: string; readonly signature: string } {
  const end = key.lastIndexOf('.');
  return { text: key.slice(0, Math.max(0, end)), signature: key.slice(end + 1) };
}

/** Returns the expiry of a key in epoch milliseconds. */
function getExpiry(key: string): number {
  return Number(key.split('.')[1]);
}

/** Compares two signatures in constant time. */
function isSameSignature(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
