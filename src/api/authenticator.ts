/** Finds the token of a request. Tokens are accepted in the Authorization header only. */
import type { IncomingMessage } from 'node:http';
import {
  hashToken,
  type StoredToken,
  TOKEN_IN_TEXT,
  TOKEN_PATTERN,
  type TokenStore,
} from '../inbox/token.js';
import { toAddressKey } from './address-key.js';
import { ApiProblem } from './problem.js';
import { createRateLimiter } from './rate-limiter.js';

export interface AuthenticatorOptions {
  readonly tokens: Pick<TokenStore, 'find' | 'recordUse'>;
  readonly now: () => number;
  /** Counts refused requests by a reason, which never contains anything of the request. */
  readonly onRefused?: (reason: RefusalReason) => void;
  /** Reports that the time of the last use could not be stored. */
  readonly onFailure: (error: unknown) => void;
}

export type RefusalReason =
  | 'no_token'
  | 'token_in_url'
  | 'token_in_cookie'
  | 'not_bearer'
  | 'unknown_token'
  | 'guessing';

/** How long a token is trusted without another look at the database. A revoked token works this long. */
const TRUST_MS = 10_000;
const MAX_TRUSTED = 1_000;
const RECORD_INTERVAL_MS = 60_000;
/** Unknown tokens that are looked up within a minute, from one address and from all of them. */
const GUESSES_PER_ADDRESS = 20;
const GUESSES_IN_TOTAL = 600;

const CHALLENGE = { 'www-authenticate': 'Bearer realm="carbon-mirror"' };
const EXPECTED =
  'Send a token as "Authorization: Bearer cm_…". "carbon-mirror tokens create NAME" creates one.';

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Creates a function that returns the token of a request, or throws a problem with status 401 or 429. */
export function createAuthenticator({ tokens, now, onRefused, onFailure }: AuthenticatorOptions) {
  const trusted = new Map<string, { readonly token: StoredToken; readonly until: number }>();
  const used = new Set<number>();
  let recordedAt = now();
  const guessesByAddress = createRateLimiter({ perMinute: GUESSES_PER_ADDRESS, now });
  const guesses = createRateLimiter({ perMinute: GUESSES_IN_TOTAL, now });

  /** Counts a refused request by its reason, then throws a 401 problem with the detail. */
  function throwUnauthorized(reason: RefusalReason, detail: string): never {
    onRefused?.(reason);
    throw new ApiProblem(401, detail, { headers: CHALLENGE });
  }

  /**
   * Limits how often a client can guess a token. Counts each look-up of a token that is not cached. Throws a 429 problem if this address,
   * or all addresses together, caused too many of these look-ups within a minute.
   */
  function limitGuesses(address: string): void {
    const own = guessesByAddress.take(address);
    const total = guesses.take('all');
    if (own.isAllowed && total.isAllowed) return;
    onRefused?.('guessing');
    const seconds = Math.max(1, own.retryAfterSeconds, total.retryAfterSeconds);
    throw new ApiProblem(429, 'Too many requests with unknown tokens.', {
      headers: { 'retry-after': String(seconds) },
    });
  }

  /**
   * Finds a token in the cache or the store. Throws a 401 problem if the token is unknown. Throws a 429 problem if `address`, or
   * all addresses together, sent too many tokens that were not in the cache.
   */
  async function findStoredToken(token: string, address: string): Promise<StoredToken> {
    // The hash is looked up, so no comparison takes longer for a better guess.
    const sha256 = hashToken(token);
    const known = trusted.get(sha256);
    if (known !== undefined && known.until > now()) return known.token;
    if (known === undefined) limitGuesses(address);
    trusted.delete(sha256);
    const found = await tokens.find(sha256);
    if (found === null) return throwUnauthorized('unknown_token', 'The token is unknown or was revoked.');
    trusted.set(sha256, { token: found, until: now() + TRUST_MS });
    for (const oldest of trusted.keys()) {
      if (trusted.size <= MAX_TRUSTED) break;
      trusted.delete(oldest);
    }
    return found;
  }

  /** Stores the time of last use of each token that was used since the previous call. */
  async function recordTokenUse(): Promise<void> {
    const ids = [...used];
    used.clear();
    recordedAt = now();
    await tokens.recordUse(ids).catch(onFailure);
  }

  return {
    authenticate: async ({ headers, url = '', socket }: IncomingMessage): Promise<StoredToken> => {
      if (hasTokenInUrl(url))
        throwUnauthorized(
          'token_in_url',
          `A token in a URL ends up in logs: revoke it and create another. ${EXPECTED}`,
        );
      if (TOKEN_IN_TEXT.test(headers.cookie ?? ''))
        throwUnauthorized('token_in_cookie', `A token in a cookie is not accepted. ${EXPECTED}`);
      const { authorization } = headers;
      if (authorization === undefined) return throwUnauthorized('no_token', EXPECTED);
      const [scheme = '', token = '', ...rest] = authorization.split(' ');
      if (scheme.toLowerCase() !== 'bearer' || rest.length > 0 || !TOKEN_PATTERN.test(token))
        return throwUnauthorized('not_bearer', `The Authorization header has no token. ${EXPECTED}`);
      const found = await findStoredToken(token, toAddressKey(socket.remoteAddress ?? ''));
      used.add(found.id);
      if (now() - recordedAt >= RECORD_INTERVAL_MS) await recordTokenUse();
      return found;
    },
    close: recordTokenUse,
  };
}

/** Names of parameters in which programs of other APIs send tokens. */
const TOKEN_PARAMETERS = /^(?:access_?token|api_?key|auth(?:orization)?|bearer|key|token)$/i;

/** Returns whether a URL contains a token, or a parameter with a name such as `token`. */
function hasTokenInUrl(url: string): boolean {
  const { searchParams } = new URL(url, 'http://localhost');
  return TOKEN_IN_TEXT.test(url) || [...searchParams.keys()].some(name => TOKEN_PARAMETERS.test(name));
}
