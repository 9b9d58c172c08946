import { RegistryError } from '../errors.js';

interface Named {
  readonly method: string;
  readonly route: string;
}

/** Troubles that come before the first byte is sent: no write can have happened. */
const NOT_SENT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'no way leads to the host',
  ENETUNREACH: 'no way leads to the host',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
};
const BROKEN_OFF = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

export function timedOut(call: Named): RegistryError {
  const name = nameOf(call);
  return new RegistryError('timeout', `${name}: no whole answer in time`, {
    call: name,
    mayHaveHappened: true,
  });
}

export function cancelled(call: Named, cause: unknown): RegistryError {
  const name = nameOf(call);
  return new RegistryError('cancelled', `${name}: cancelled`, { call: name, cause });
}

/** Whatever went wrong between sending and the last byte, as our own error. */
export function failureOf(call: Named, error: unknown, signal: AbortSignal): RegistryError {
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (cause instanceof RegistryError && cause.status !== null) return cause;
  const name = nameOf(call);
  if (cause instanceof RegistryError) {
    const message = cause.call === name ? cause.message : `${name}: ${cause.message}`;
    return new RegistryError(cause.code, message, { call: name, mayHaveHappened: true, cause: cause.cause });
  }
  const reason = systemCode(cause);
  return new RegistryError('unavailable', `${name}: ${sentenceOf(reason)}`, {
    call: name,
    mayHaveHappened: reason === null || NOT_SENT[reason] === undefined,
    cause,
  });
}

function sentenceOf(reason: string | null): string {
  if (reason === null) return 'the connection failed';
  const ended = BROKEN_OFF.includes(reason) ? 'broke off' : 'failed';
  return `${NOT_SENT[reason] ?? `the connection ${ended}`} (${reason})`;
}

function nameOf({ method, route }: Named): string {
  return `${method} ${route}`;
}

/** `fetch` hides the system's word for it one or two causes deep. */
function systemCode(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return null;
}
