import type { Response } from 'express';
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** The furthest ahead that an app may let its JWT expire. */
const MAX_AHEAD_SECONDS = 600;
/** The furthest that an app's clock may be ahead. */
const MAX_EARLY_SECONDS = 60;
const MIN_MODULUS_BITS = 2048;
/** Node's own decoder would skip whatever is not base64url. */
const COMPACT_JWT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

export interface PublicKey {
  readonly pem: string;
  /** SHA-256 of the key's SPKI form, to compare with what the dashboard shows. */
  readonly fingerprint: string;
}

/** Undefined where the text is no RSA public key of at least 2048 bits. */
export function readPublicKey(pem: string): PublicKey | undefined {
  const key = parseKey(pem);
  if (key?.asymmetricKeyType !== 'rsa') return undefined;
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_MODULUS_BITS) return undefined;
  const der = key.export({ type: 'spki', format: 'der' });
  return {
    pem: key.export({ type: 'spki', format: 'pem' }).toString(),
    fingerprint: createHash('sha256').update(der).digest('base64'),
  };
}

function parseKey(pem: string): KeyObject | undefined {
  if (!pem.includes('PUBLIC KEY')) return undefined;
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

export interface JwtCheck {
  readonly jwt: string;
  /** Good by one of these clocks is good. */
  readonly nowMs: readonly number[];
  /** Refuses one without the `iat` and `alg` that its description asks for among the claims. */
  readonly strict: boolean;
  /** The public keys of the app that the JWT names, or undefined where there is no such app. */
  readonly keysOf: (appId: string) => readonly string[] | undefined;
}

export type CheckedJwt = { readonly appId: string } | { readonly refused: string };

/** RS256 only, by any key of the app in `iss`, with an `exp` in the next ten minutes and neither `nbf` nor `iat` ahead. */
export function verifyAppJwt({ jwt, nowMs, strict, keysOf }: JwtCheck): CheckedJwt {
  const [, head, body, signature] = COMPACT_JWT.exec(jwt) ?? [];
  if (!head || !body || !signature) return { refused: 'A JWT is needed' };
  const header = decode(head);
  const claims = decode(body);
  if (header === undefined || claims === undefined) return { refused: 'The JWT cannot be read' };
  if (header.get('alg') !== 'RS256' || header.has('crit'))
    return { refused: 'The JWT must be signed with RS256' };

  const appId = claims.get('iss');
  if (typeof appId !== 'string') return { refused: 'The JWT names no app in iss' };
  const keys = keysOf(appId);
  if (keys === undefined) return { refused: 'The JWT names an unknown app in iss' };
  const signed = Buffer.from(`${head}.${body}`);
  const bytes = Buffer.from(signature, 'base64url');
  if (!keys.some(key => verify('RSA-SHA256', signed, key, bytes))) {
    return { refused: 'No key of the app verifies the JWT' };
  }
  if (strict && claims.get('alg') !== 'RS256') return { refused: 'The JWT has no alg among its claims' };
  if (strict && !claims.has('iat')) return { refused: 'The JWT has no iat' };
  const refusals = nowMs.map(ms => checkTimes(claims, ms / 1000));
  return refusals.includes(undefined) ? { appId } : (refusals[0] ?? { refused: 'The JWT cannot be dated' });
}

function checkTimes(claims: ReadonlyMap<string, unknown>, now: number): { refused: string } | undefined {
  const exp = claims.get('exp');
  if (typeof exp !== 'number') return { refused: 'The JWT has no exp' };
  if (exp <= now) return { refused: 'The JWT has expired' };
  if (exp > now + MAX_AHEAD_SECONDS) return { refused: 'The JWT expires more than 10 minutes ahead' };
  for (const name of ['nbf', 'iat']) {
    const at = claims.get(name) ?? now;
    if (typeof at !== 'number') return { refused: `The ${name} of the JWT is no number` };
    if (at > now + MAX_EARLY_SECONDS)
      return { refused: `The ${name} of the JWT is more than a minute ahead` };
  }
  return undefined;
}

function decode(part: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

/** From here on the sandbox's clock alone says whether this call's JWT is good. */
export function trustOwnClock(res: Response): void {
  res.locals['trustsOwnClock'] = true;
}

export function trustsOwnClock(res: Response | undefined): boolean {
  return res?.locals['trustsOwnClock'] === true;
}
