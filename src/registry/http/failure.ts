import { RegistryError } from '../errors.js';

interface Named {
  readonly method: string;
  readonly route: string;
}

/** Troubles that come before the first byte is sent: no write can have happened. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export function timedOut(call: Named): RegistryError {
  return new RegistryError('timeout', `${call.method} ${call.route}: no whole answer in time`, {
    mayHaveHappened: true,
  });
}

export function cancelled(call: Named, cause: unknown): RegistryError {
  return new RegistryError('cancelled', `${call.method} ${call.route}: cancelled`, { cause });
}

/** Whatever went wrong between sending and the last byte, as our own error. */
export function failureOf(call: Named, error: unknown, signal: AbortSignal): RegistryError {
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (cause instanceof RegistryError && cause.status !== null) return cause;
  const name = `${call.method} ${call.route}`;
  if (cause instanceof RegistryError) {
    const message = cause.message.startsWith(name) ? cause.message : `${name}: ${cause.message}`;
    return new RegistryError(cause.code, message, { mayHaveHappened: true, cause: cause.cause });
  }
  const reason = systemCode(cause);
  return new RegistryError('unavailable', `${name}: ${reason ?? 'the connection failed'}`, {
    mayHaveHappened: reason === null || !NOT_SENT.has(reason),
    cause,
  });
}

/** `fetch` hides the system's word for it one or two causes deep. */
function systemCode(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return null;
}
