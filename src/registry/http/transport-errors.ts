import { RegistryError } from '../errors.js';

/** The method and route of a request, and whether it may be sent twice. */
interface RequestLine {
  readonly method: string;
  readonly route: string;
  readonly repeatable?: boolean;
}

/** Whether a request changes something at the registry. A GET that must not be repeated counts as a write. */
export function isWrite({ method, repeatable }: RequestLine): boolean {
  return method !== 'GET' || repeatable === false;
}

/** Descriptions of errors that occur before the first byte is sent. After such an error no write can have happened. */
const MESSAGES_OF_UNSENT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name was not found',
  EAI_AGAIN: 'the name of the host could not be resolved',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
};
const BROKEN_CONNECTION_CODES = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** Creates the error of a request whose response was not complete in time. A write may have taken effect. */
export function createTimeoutError(request: RequestLine): RegistryError {
  const call = formatCall(request);
  return new RegistryError('timeout', `${call}: no complete answer in time`, {
    call,
    mayHaveHappened: isWrite(request),
  });
}

/** Creates the error of a request that its caller has cancelled. */
export function createCancelledError(request: RequestLine, cause: unknown): RegistryError {
  const call = formatCall(request);
  return new RegistryError('cancelled', `${call}: cancelled`, { call, cause });
}

/** Converts a network error to a `RegistryError`. If the signal was aborted, converts the reason of the abort instead. */
export function toRegistryError(request: RequestLine, error: unknown, signal: AbortSignal): RegistryError {
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (cause instanceof RegistryError && cause.status !== null) return cause;
  const call = formatCall(request);
  if (cause instanceof RegistryError) {
    const message = cause.call === call ? cause.message : `${call}: ${cause.message}`;
    return new RegistryError(cause.code, message, {
      call,
      mayHaveHappened: isWrite(request),
      cause: cause.cause,
    });
  }
  const systemCode = findSystemCode(cause);
  return new RegistryError('unavailable', `${call}: ${describeSystemCode(systemCode)}`, {
    call,
    mayHaveHappened:
      isWrite(request) && (systemCode === null || MESSAGES_OF_UNSENT[systemCode] === undefined),
    cause,
  });
}

/** Describes a connection error: `ECONNREFUSED` → `the connection was refused (ECONNREFUSED)`. */
function describeSystemCode(systemCode: string | null): string {
  if (systemCode === null) return 'the connection failed';
  const isBroken = BROKEN_CONNECTION_CODES.includes(systemCode);
  const description =
    MESSAGES_OF_UNSENT[systemCode] ?? (isBroken ? 'the connection was lost' : 'the connection failed');
  return `${description} (${systemCode})`;
}

function formatCall({ method, route }: RequestLine): string {
  return `${method} ${route}`;
}

/** Returns the system error code, such as ECONNREFUSED, of an error or one of its causes. Null if there is none. */
function findSystemCode(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return null;
}
