import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface VisitorKeysOptions {
  /** Readable only by those who may read this user's files. */
  readonly secret: Buffer;
  readonly now: () => number;
}

const SIGN_IN_MS = 12 * 3_600_000;
const VISIT_MS = 30 * 86_400_000;

export type VisitorKeys = ReturnType<typeof createVisitorKeys>;

/** Creates signed keys that contain their expiry, so that they stay valid when the console restarts. */
export function createVisitorKeys({ secret, now }: VisitorKeysOptions) {
  const begunAt = now();
  const begun = performance.now();
  const usedKeys = new Map<string, number>();

  const sign = (text: string): string => createHmac('sha256', secret).update(text).digest('base64url');
  const make = (kind: VisitorKeyKind, until: number): string => {
    const text = `${kind}.${until}.${randomBytes(16).toString('base64url')}`;
    return `${text}.${sign(text)}`;
  };
  const isGood = (key: string, kind: VisitorKeyKind): boolean => {
    const [text, signature] = splitSignature(key);
    return text.startsWith(`${kind}.`) && isSameSignature(sign(text), signature) && getExpiry(text) > now();
  };

  /** The start time by the current clock, even if the clock was changed since. */
  const startedAt = (): number => Math.min(begunAt, now() - (performance.now() - begun));
  /** A key minted before this start may have been used already. */
  const wasMintedBeforeStart = (key: string): boolean => getExpiry(key) - SIGN_IN_MS < startedAt();

  return {
    /** Creates the key of a sign-in link, which works once. */
    mint: () => make('once', now() + SIGN_IN_MS),
    /** Exchanges a sign-in key for a visitor key; null if the key is forged, expired, used or older than this process. */
    exchange: (shown: string): string | null => {
      for (const [key, until] of usedKeys) if (until <= now()) usedKeys.delete(key);
      if (!isGood(shown, 'once') || usedKeys.has(shown) || wasMintedBeforeStart(shown)) return null;
      usedKeys.set(shown, getExpiry(shown));
      return make('visit', now() + VISIT_MS);
    },
    isVisitor: (key: string): boolean => isGood(key, 'visit'),
  };
}

type VisitorKeyKind = 'once' | 'visit';

function splitSignature(key: string): readonly [string, string] {
  const end = key.lastIndexOf('.');
  return [key.slice(0, Math.max(0, end)), key.slice(end + 1)];
}

function getExpiry(key: string): number {
  return Number(key.split('.')[1]);
}

function isSameSignature(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
