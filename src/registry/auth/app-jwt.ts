import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { type AppJwt, isCredential, type TokenSource } from '../http/credential.js';
import { RegistryError } from '../errors.js';

const ISSUED_BACK_SECONDS = 60;
/** The registry allows 10 minutes; 7 leave room for a clock that runs two minutes fast. */
const LIFETIME_SECONDS = 7 * 60;
/** Reused only this long, so that a clock two minutes slow still sends one with a minute to live. */
const REUSE_SECONDS = 4 * 60;

export interface AppJwtOptions {
  readonly appId: string;
  readonly privateKey: KeyObject;
  /** Epoch milliseconds as the registry sees them: the local clock and its correction. */
  readonly now: () => number;
}

interface Signed {
  readonly jwt: AppJwt;
  readonly atSeconds: number;
}

/** Gives the app's JWT, the same one until it is due, is refused, or time has stepped. */
export function createAppJwt(options: AppJwtOptions): TokenSource<AppJwt> {
  let last: Signed | undefined;
  return {
    async get() {
      const nowSeconds = Math.floor(options.now() / 1000);
      if (last !== undefined && mayReuse(last.atSeconds, nowSeconds))
        return { token: last.jwt, fresh: false };
      const jwt = await signAppJwt(options.appId, options.privateKey, nowSeconds);
      last = { jwt, atSeconds: nowSeconds };
      return { token: jwt, fresh: true };
    },
    refuse(token) {
      if (last?.jwt === token) last = undefined;
    },
  };
}

async function signAppJwt(appId: string, privateKey: KeyObject, nowSeconds: number): Promise<AppJwt> {
  const jwt = await new SignJWT({ alg: 'RS256' })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(appId)
    .setIssuedAt(nowSeconds - ISSUED_BACK_SECONDS)
    .setExpirationTime(nowSeconds + LIFETIME_SECONDS)
    .sign(privateKey);
  if (!isCredential<AppJwt>(jwt)) throw new RegistryError('bad_request', 'The app id is too long for a JWT');
  return jwt;
}

function mayReuse(signedAtSeconds: number, nowSeconds: number): boolean {
  const age = nowSeconds - signedAtSeconds;
  return age >= -ISSUED_BACK_SECONDS && age < REUSE_SECONDS;
}
