import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { type AppJwt, isCredential, type TokenSource } from '../http/credential.js';
import { RegistryError } from '../errors.js';

const BACKDATE_SECONDS = 60;
/** The registry allows 10 minutes. 7 minutes leave room for a clock that is two minutes fast. */
const LIFETIME_SECONDS = 7 * 60;
/** How long a JWT is reused. Even with a clock that is two minutes slow, each JWT is sent with at least a minute left. */
const MAX_REUSE_SECONDS = 4 * 60;

export interface AppJwtOptions {
  readonly appId: string;
  readonly privateKey: KeyObject;
  /** Returns epoch milliseconds, corrected to the registry's clock. */
  readonly now: () => number;
}

/** The last JWT that was signed, and when. */
interface SignedJwt {
  readonly jwt: AppJwt;
  readonly signedAtSeconds: number;
}

/** Creates a source of JWTs that authenticate as the app. Reuses each JWT for up to four minutes. */
export function createAppJwtSource({ appId, privateKey, now }: AppJwtOptions): TokenSource<AppJwt> {
  let lastSigned: SignedJwt | undefined;
  return {
    /** Returns the last signed JWT if it is less than four minutes old, otherwise signs a new one. */
    async get() {
      const nowSeconds = Math.floor(now() / 1000);
      if (lastSigned !== undefined && canReuseJwt(lastSigned.signedAtSeconds, nowSeconds))
        return { token: lastSigned.jwt, fresh: false };
      const jwt = await signAppJwt(appId, privateKey, nowSeconds);
      lastSigned = { jwt, signedAtSeconds: nowSeconds };
      return { token: jwt, fresh: true };
    },
    /** Discards a JWT that the registry refused, so that the next call signs a new JWT. */
    discard(token) {
      if (lastSigned?.jwt === token) lastSigned = undefined;
    },
  };
}

/** Signs a JWT that authenticates the app for seven minutes. Backdates `iat` by a minute, in case the clock is fast. */
async function signAppJwt(appId: string, privateKey: KeyObject, nowSeconds: number): Promise<AppJwt> {
  const jwt = await new SignJWT({ alg: 'RS256' })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(appId)
    .setIssuedAt(nowSeconds - BACKDATE_SECONDS)
    .setExpirationTime(nowSeconds + LIFETIME_SECONDS)
    .sign(privateKey);
  if (!isCredential<AppJwt>(jwt)) throw new RegistryError('bad_request', 'The app id is too long for a JWT');
  return jwt;
}

/**
 * Whether a JWT is less than four minutes old. False if the clock has been set back by more than a minute since it was signed.
 */
function canReuseJwt(signedAtSeconds: number, nowSeconds: number): boolean {
  const ageSeconds = nowSeconds - signedAtSeconds;
  return ageSeconds >= -BACKDATE_SECONDS && ageSeconds < MAX_REUSE_SECONDS;
}
