import { RegistryError, type RegistryErrorCode } from '../errors.js';
import { isObject } from '../../text/checks.js';

/** A response with an error status. */
export interface RefusalResponse {
  readonly status: number;
  /** Method and route of the request. */
  readonly call: string;
  /** Whether the request changes something at the registry. */
  readonly isWrite: boolean;
  readonly bodyText: string;
  /** The prefix of our headers, such as `registry`. */
  readonly headerPrefix: string;
  readonly retryAfterMs: number | null;
  /** Masks secrets in the registry's message. */
  readonly mask: (text: string) => string;
}

/**
 * Creates the `RegistryError` for a response with an error status. It contains the message of the registry, in which secrets are
 * masked.
 */
export function createRefusalError(response: RefusalResponse): RegistryError {
  const { status, call, isWrite, bodyText, headerPrefix, retryAfterMs, mask } = response;
  const message = parseErrorMessage(status, bodyText);
  const code = getErrorCode(status, message !== null);
  const registryMessage = message === null ? null : toPrintable(mask(message));
  const detail = registryMessage === null ? '' : `: ${registryMessage}`;
  const advice = status === 400 ? createHeaderPrefixAdvice(registryMessage ?? '', headerPrefix) : '';
  return new RegistryError(code, `${call} answered ${status}${detail}${advice}`, {
    call,
    status,
    retryAfterMs,
    registryMessage,
    mayHaveHappened: isWrite && (status < 400 || status === 408 || status >= 500),
  });
}

/**
 * Returns advice to change the setting `headerPrefix` if the registry's message names a header with another prefix. Otherwise
 * returns an empty text.
 */
function createHeaderPrefixAdvice(message: string, headerPrefix: string): string {
  const [, named] = /\bx-([a-z][a-z0-9-]*)-api-version\b/i.exec(message) ?? [];
  if (named === undefined || named.toLowerCase() === headerPrefix.toLowerCase()) return '';
  return `. Set headerPrefix to "${named}": it is "${headerPrefix}"`;
}

/**
 * Returns the error code for an HTTP status. `isFromRegistry` is false if a proxy may have answered; then a 404 is
 * `bad_answer`.
 */
function getErrorCode(status: number, isFromRegistry: boolean): RegistryErrorCode {
  if (status < 400) return 'bad_answer';
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  // A proxy may send a 404 too, which says nothing about the object.
  if (status === 404) return isFromRegistry ? 'not_found' : 'bad_answer';
  if (status === 409) return 'conflict';
  if (status === 429) return 'rate_limited';
  if (status === 408 || status >= 500) return 'unavailable';
  return 'invalid';
}

/**
 * Returns the message of a body in the registry's error format `{ statusCode, message }`; joins several messages to one text.
 * Returns null for any other body, and if `statusCode` differs from the HTTP status: a proxy may have sent the response.
 */
function parseErrorMessage(status: number, bodyText: string): string | null {
  const body = parseJsonOrNull(bodyText);
  if (!isObject(body) || body['statusCode'] !== status) return null;
  const message = body['message'];
  if (typeof message === 'string') return message;
  if (Array.isArray(message) && message.every(line => typeof line === 'string')) return message.join('; ');
  return null;
}

/** Parses JSON. Returns null if the text is not JSON. */
function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const MAX_MESSAGE_CHARACTERS = 500;

/** Replaces control characters in an error message by spaces and shortens it. Secrets must already be masked. */
function toPrintable(message: string): string {
  const cleaned = message.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
  return cleaned.length > MAX_MESSAGE_CHARACTERS ? `${cleaned.slice(0, MAX_MESSAGE_CHARACTERS)}…` : cleaned;
}

/** The method and route of a request, and whether it may be sent twice. */
interface RequestLine {
  readonly method: string;
  readonly route: string;
  readonly repeatable?: boolean;
}

/** Whether a request changes something at the registry. A GET that must not be repeated counts as a write. */
export function isWriteRequest({ method, repeatable }: RequestLine): boolean {
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

/**
 * Creates the error of a request whose response was not complete in time. If the request is a write, the error says that the write
 * may have taken effect.
 */
export function createTimeoutError(request: RequestLine): RegistryError {
  const call = formatCall(request);
  return new RegistryError('timeout', `${call}: no complete answer in time`, {
    call,
    mayHaveHappened: isWriteRequest(request),
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
      mayHaveHappened: isWriteRequest(request),
      cause: cause.cause,
    });
  }
  const systemCode = findSystemCode(cause);
  return new RegistryError('unavailable', `${call}: ${describeSystemCode(systemCode)}`, {
    call,
    mayHaveHappened:
      isWriteRequest(request) && (systemCode === null || MESSAGES_OF_UNSENT[systemCode] === undefined),
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
