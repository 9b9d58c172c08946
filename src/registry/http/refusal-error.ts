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

/** Returns the message from the registry's error format `{ statusCode, message }`. Returns null for any other body. */
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
