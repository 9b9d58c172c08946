import type { Response } from 'express';
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** The longest time until a JWT expires. */
const MAX_AHEAD_SECONDS = 600;
/** How far an app's clock may be ahead. */
const MAX_EARLY_SECONDS = 60;
const MIN_MODULUS_BITS = 2048;
/** Matches base64url. It is checked because Node's decoder skips other characters. */
const COMPACT_JWT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

export interface AppPublicKey {
  readonly pem: string;
  /** SHA-256 of the key in SPKI format, as the registry's dashboard shows it. */
  readonly fingerprint: string;
}

/** Parses an RSA public key in PEM format. Returns undefined for other text and for keys under 2048 bits. */
export function parsePublicKey(pem: string): AppPublicKey | undefined {
  const key = parsePemPublicKey(pem);
  if (key?.asymmetricKeyType !== 'rsa') return undefined;
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_MODULUS_BITS) return undefined;
  const der = key.export({ type: 'spki', format: 'der' });
  return {
    pem: key.export({ type: 'spki', format: 'pem' }).toString(),
    fingerprint: createHash('sha256').update(der).digest('base64'),
  };
}

/** Parses a public key in PEM format. Returns undefined for any other text, including a private key. */
function parsePemPublicKey(pem: string): KeyObject | undefined {
  if (!pem.includes('PUBLIC KEY')) return undefined;
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** A JWT and how to verify the JWT. */
export interface JwtVerification {
  readonly jwt: string;
  /** The current times of different clocks, in epoch milliseconds. The JWT must be valid at one of them. */
  readonly acceptedTimes: readonly number[];
  /** Also requires the claims `iat` and `alg`, which the registry's documentation asks for. */
  readonly strict: boolean;
  /** Returns the public keys of an app. Returns undefined for an unknown app. */
  readonly listAppKeys: (appId: string) => readonly string[] | undefined;
}

/** The app that signed a JWT, or why the JWT is refused. */
export type JwtVerificationResult = { readonly appId: string } | { readonly refusal: string };

/**
 * Verifies an app's JWT and returns the app's id, or the reason why the JWT is refused. With `strict`, the claims `alg` and `iat`
 * are required too.
 */
export function verifyAppJwt({
  jwt,
  acceptedTimes,
  strict,
  listAppKeys,
}: JwtVerification): JwtVerificationResult {
  const [, head, body, signature] = COMPACT_JWT.exec(jwt) ?? [];
  if (!head || !body || !signature) return { refusal: 'A JWT is needed' };
  const header = decodeJwtPart(head);
  const claims = decodeJwtPart(body);
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
  const refusals = acceptedTimes.map(ms => checkJwtTimes(claims, ms / 1000));
  const isValidByOneClock = refusals.includes(undefined);
  if (isValidByOneClock) return { appId };
  return refusals[0] ?? { refusal: 'The JWT cannot be dated' };
}

/**
 * Returns the reason why a JWT is not valid at the time `nowSeconds`, such as `The JWT has expired`. Returns undefined if the JWT
 * is valid.
 */
function checkJwtTimes(
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

/** Decodes the base64url JSON of a JWT's header or claims. Returns undefined if the JSON is not an object. */
function decodeJwtPart(part: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the validity of this request's JWT depend on the sandbox clock alone, not on the wall clock. */
export function restrictJwtToSandboxClock(res: Response): void {
  res.locals['usesSandboxClockOnly'] = true;
}

/** Returns whether the JWT of this request must be valid by the sandbox clock, whatever the wall clock shows. */
export function isJwtRestrictedToSandboxClock(res: Response | undefined): boolean {
  return res?.locals['usesSandboxClockOnly'] === true;
}
