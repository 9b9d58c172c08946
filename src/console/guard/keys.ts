import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface KeysOptions {
  /** Known to whoever may read this user's files, and to nobody else. */
  readonly secret: Buffer;
  readonly now: () => number;
}

const SHOWN_FOR_MS = 12 * 3_600_000;
const VISIT_MS = 30 * 86_400_000;

export type Keys = ReturnType<typeof createKeys>;

/** Keys say themselves until when they are good, so that a console that starts again knows them. */
export function createKeys({ secret, now }: KeysOptions) {
  const begunAt = now();
  const begun = performance.now();
  const shownBefore = new Map<string, number>();

  const sign = (text: string): string => createHmac('sha256', secret).update(text).digest('base64url');
  const make = (kind: Kind, until: number): string => {
    const text = `${kind}.${until}.${randomBytes(16).toString('base64url')}`;
    return `${text}.${sign(text)}`;
  };
  const isGood = (key: string, kind: Kind): boolean => {
    const [text, signature] = split(key);
    return text.startsWith(`${kind}.`) && isEqual(sign(text), signature) && untilOf(text) > now();
  };

  /** By the clock as it is now, wherever it was set since. */
  const startedAt = (): number => Math.min(begunAt, now() - (performance.now() - begun));
  /** Whether it was shown to a console that ran before this one, nobody knows. */
  const isOfBefore = (key: string): boolean => untilOf(key) - SHOWN_FOR_MS < startedAt();

  return {
    /** What the printed address holds: good for one visit. */
    mint: () => make('once', now() + SHOWN_FOR_MS),
    /** The visitor's own key; null where what was shown is not ours, is too old, was shown before or made before this began. */
    exchange: (shown: string): string | null => {
      for (const [key, until] of shownBefore) if (until <= now()) shownBefore.delete(key);
      if (!isGood(shown, 'once') || shownBefore.has(shown) || isOfBefore(shown)) return null;
      shownBefore.set(shown, untilOf(shown));
      return make('visit', now() + VISIT_MS);
    },
    isVisitor: (key: string): boolean => isGood(key, 'visit'),
  };
}

type Kind = 'once' | 'visit';

function split(key: string): readonly [string, string] {
  const end = key.lastIndexOf('.');
  return [key.slice(0, Math.max(0, end)), key.slice(end + 1)];
}

function untilOf(key: string): number {
  return Number(key.split('.')[1]);
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
