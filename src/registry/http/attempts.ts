import type { TokenSource } from './credential.js';
import { RegistryError, type RegistryErrorCode } from '../errors.js';
import { backoffMs } from './retry-after.js';

export interface RetryRules {
  readonly attempts: number;
  readonly maxRetryWaitMs: number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface Repeatable {
  readonly token: TokenSource;
  readonly repeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

interface Refused {
  readonly token: string;
  readonly error: RegistryError;
}

const PASSING: ReadonlySet<RegistryErrorCode> = new Set(['rate_limited', 'unavailable', 'timeout']);

/**
 * One renewal of the credential for any call: a refusal changed nothing.
 * Further tries only where a second one cannot do harm, and only for troubles that pass.
 */
export async function withAttempts<T>(
  call: Repeatable,
  rules: RetryRules,
  attempt: (token: string) => Promise<T>,
): Promise<T> {
  let refused: Refused | undefined;
  let tries = 1;
  for (;;) {
    const { token, fresh } = await call.token.get().catch(withoutCredential);
    if (refused?.token === token) throw refused.error;
    try {
      return await attempt(token);
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      const first = refused === undefined;
      if (error.status === 401 || (error.status === 403 && !fresh && first)) {
        call.token.refuse(token);
        refused = { token, error };
        if (first) continue;
      }
      const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs(tries, rules.random));
      const worthwhile = call.repeatable && PASSING.has(error.code) && tries < rules.attempts;
      if (!worthwhile || waitMs > rules.maxRetryWaitMs) throw error;
      tries += 1;
      await rules.sleep(waitMs, call.signal);
    }
  }
}

/** The call that needed the credential was not sent, whatever became of the one that asked for it. */
function withoutCredential(error: unknown): never {
  if (!(error instanceof RegistryError) || !error.mayHaveHappened) throw error;
  const { code, message, call, status, retryAfterMs, registryMessage } = error;
  throw new RegistryError(code, message, { call, status, retryAfterMs, registryMessage, cause: error });
}
