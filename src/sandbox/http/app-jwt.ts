import type { Response } from 'express';
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** The longest time until a JWT expires. */
const MAX_AHEAD_SECONDS = 600;
/** How far an app's clock may be ahead. */
const MAX_EARLY_SECONDS = 60;
const MIN_MODULUS_BITS = 2048;
/** Checked because Node's decoder skips characters that are not base64url. */
const COMPACT_JWT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

export interface AppPublicKey {
  readonly pem: string;
  /** SHA-256 of the key's SPKI form, as the registry's dashboard shows it. */
  readonly fingerprint: string;
}

/** Parses an RSA public key of at least 2048 bits. Returns undefined for anything else. */
export function parsePublicKey(pem: string): AppPublicKey | undefined {
  const key = parseKey(pem);
  if (key?.asymmetricKeyType !== 'rsa') return undefined;
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_MODULUS_BITS) return undefined;
  const der = key.export({ type: 'spki', format: 'der' });
  return {
    pem: key.export({ type: 'spki', format: 'pem' }).toString(),
    fingerprint: createHash('sha256').update(der).digest('base64'),
  };
}

/** Parses a public key in PEM form. Returns undefined for anything else, also for a private key. */
function parseKey(pem: string): KeyObject | undefined {
  if (!pem.includes('PUBLIC KEY')) return undefined;
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

export interface JwtVerification {
  readonly jwt: string;
  /** Current times of different clocks, in epoch milliseconds. The JWT must be valid by one of them. */
  readonly acceptedTimes: readonly number[];
  /** Also requires the claims `iat` and `alg`, which the registry's documentation asks for. */
  readonly strict: boolean;
  /** Returns the public keys of an app, or undefined if there is no such app. */
  readonly listAppKeys: (appId: string) => readonly string[] | undefined;
}

export type JwtVerificationResult = { readonly appId: string } | { readonly refusal: string };

/**
 * Verifies a JWT and returns the id of its app, or why it is refused. It must be signed with RS256 by a key of the app in
 * `iss` and expire within ten minutes; `nbf` and `iat` may be at most a minute in the future.
 */
export function verifyAppJwt({
  jwt,
  acceptedTimes,
  strict,
  listAppKeys,
}: JwtVerification): JwtVerificationResult {
  const [, head, body, signature] = COMPACT_JWT.exec(jwt) ?? [];
  if (!head || !body || !signature) return { refusal: 'A JWT is needed' };
  const header = decodePart(head);
  const claims = decodePart(body);
  if (header === undefined || claims === undefined) return { refusal: 'The JWT cannot be read' };
  if (header.get('alg') !== 'RS256' || header.has('crit'))
    return { refusal: 'The JWT must be signed with RS256' };

  const appId = claims.get('iss');
  if (typeof appId !== 'string') return { refusal: 'The JWT names no app in iss' };
  const keys = listAppKeys(appId);
  if (keys === undefined) return { refusal: 'The JWT names an unknown app in iss' };
  const signed = Buffer.from(`${head}.${body}`);
  const bytes = Buffer.from(signature, 'base64url');
  if (!keys.some(key => verify('RSA-SHA256', signed, key, bytes))) {
    return { refusal: 'No key of the app verifies the JWT' };
  }
  if (strict && claims.get('alg') !== 'RS256') return { refusal: 'The JWT has no alg among its claims' };
  if (strict && !claims.has('iat')) return { refusal: 'The JWT has no iat' };
  const refusals = acceptedTimes.map(ms => checkTimes(claims, ms / 1000));
  const isValidByOneClock = refusals.includes(undefined);
  if (isValidByOneClock) return { appId };
  return refusals[0] ?? { refusal: 'The JWT cannot be dated' };
}

/** Returns why the JWT is not valid at this time, in epoch seconds, or undefined if it is. */
function checkTimes(
  claims: ReadonlyMap<string, unknown>,
  nowSeconds: number,
): { refusal: string } | undefined {
  const exp = claims.get('exp');
  if (typeof exp !== 'number') return { refusal: 'The JWT has no exp' };
  if (exp <= nowSeconds) return { refusal: 'The JWT has expired' };
  if (exp > nowSeconds + MAX_AHEAD_SECONDS) return { refusal: 'The JWT expires more than 10 minutes ahead' };
  for (const name of ['nbf', 'iat']) {
    const at = claims.get(name) ?? nowSeconds;
    if (typeof at !== 'number') return { refusal: `The ${name} of the JWT is not a number` };
    if (at > nowSeconds + MAX_EARLY_SECONDS)
      return { refusal: `The ${name} of the JWT is more than a minute ahead` };
  }
  return undefined;
}

/** Decodes the header or the claims of a JWT. Returns undefined if they are no JSON object. */
function decodePart(part: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

/** Makes this call's JWT valid by the sandbox's clock only, not by the wall clock. */
export function useSandboxClockOnly(res: Response): void {
  res.locals['usesSandboxClockOnly'] = true;
}

export function usesSandboxClockOnly(res: Response | undefined): boolean {
  return res?.locals['usesSandboxClockOnly'] === true;
}
