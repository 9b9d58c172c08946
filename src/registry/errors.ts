import { maskCredentials } from '../text/mask.js';

export const REGISTRY_ERROR_CODES = [
  /** Refused before anything was sent: an id, a path or an amount that no request may contain. */
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  /** The installation does not exist, so there is no access token for it. Whether the requested object exists is unknown. */
  'installation_gone',
  'conflict',
  /** The registry rejected the content of the request (400, 422 and similar). */
  'invalid',
  'rate_limited',
  'unavailable',
  'timeout',
  'bad_answer',
  /** Complete, valid JSON, but not the list that was requested. */
  'other_form',
  'too_large',
  /** The result of a write is unclear: its response was lost, or several objects may be its result. See `candidates`. */
  'outcome_unknown',
  'cancelled',
] as const;
export type RegistryErrorCode = (typeof REGISTRY_ERROR_CODES)[number];

/** The beginning of a response that is valid JSON, but not the expected list. */
export interface UnexpectedAnswer {
  readonly shape: 'object' | 'list';
  readonly text: string;
}

/** Optional details of a `RegistryError`. See the fields of the same names there. */
export interface RegistryErrorDetails {
  readonly call?: string | null;
  readonly status?: number | null;
  readonly retryAfterMs?: number | null;
  readonly registryMessage?: string | null;
  readonly mayHaveHappened?: boolean;
  readonly candidates?: readonly unknown[];
  readonly answer?: UnexpectedAnswer | null;
  readonly cause?: unknown;
}

/** The only error of the client. All its texts are masked, whatever the registry sends. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly code: RegistryErrorCode;
  /** Method and route of the request, or null if there was none. */
  readonly call: string | null;
  /** Status of the response, or null if none arrived. */
  readonly status: number | null;
  /** How long the registry asked to wait, at most 15 minutes, or null if it did not. */
  readonly retryAfterMs: number | null;
  /** The message of the registry, masked, or null if there was none. */
  readonly registryMessage: string | null;
  /** Whether the failed request is a write that may have taken effect despite this error. False for every read. */
  readonly mayHaveHappened: boolean;
  /** For `outcome_unknown`: the objects that the write may have created. */
  readonly candidates: readonly unknown[];
  /** For `other_form`: what the registry sent instead. */
  readonly answer: UnexpectedAnswer | null;

  constructor(code: RegistryErrorCode, message: string, details: RegistryErrorDetails = {}) {
    const { call, status, retryAfterMs, registryMessage, answer, cause } = details;
    super(maskCredentials(message), cause === undefined ? {} : { cause });
    this.code = code;
    this.call = maskIfPresent(call);
    this.status = status ?? null;
    this.retryAfterMs = retryAfterMs ?? null;
    this.registryMessage = maskIfPresent(registryMessage);
    this.mayHaveHappened = details.mayHaveHappened ?? false;
    this.candidates = details.candidates ?? [];
    this.answer = answer == null ? null : { ...answer, text: maskCredentials(answer.text) };
  }
}

/** Masks the credentials in a text. Returns null if there is no text. */
function maskIfPresent(text: string | null | undefined): string | null {
  return text == null ? null : maskCredentials(text);
}

/** Returns advice after a failed call to the registry: check the app's key if access was denied, otherwise the base URL. */
export function getRegistryAccessAdvice(errorCode: string): string {
  return errorCode === 'unauthorized' || errorCode === 'forbidden'
    ? 'Check that REGISTRY_APP_ID and the private key belong to the same app, and that its public key is at the registry.'
    : 'Check REGISTRY_BASE_URL, and that this machine can reach it.';
}

/** Formats an unexpected value for an error message: up to 40 characters of a string, or the value's type. */
export function formatExcerpt(value: unknown): string {
  if (typeof value !== 'string') return value === null ? 'null' : typeof value;
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
