import { maskSecretLookalikes } from './http/mask.js';

export const REGISTRY_ERROR_CODES = [
  /** Refused here, before anything was sent: an id, a path or an amount that no call may carry. */
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  /** No access token is to be had, because the installation is not there: nothing is known of what was asked for. */
  'installation_gone',
  'conflict',
  /** The registry refused what was sent (400, 422 and their like). */
  'invalid',
  'rate_limited',
  'unavailable',
  'timeout',
  'bad_answer',
  /** Whole and well-formed, but another thing than what was asked for. */
  'other_form',
  'too_large',
  /** A write whose answer was lost, and which could not be found again beyond doubt. */
  'outcome_unknown',
  'cancelled',
] as const;
export type RegistryErrorCode = (typeof REGISTRY_ERROR_CODES)[number];

/** The beginning of what came instead. */
export interface OtherAnswer {
  readonly form: 'object' | 'list';
  readonly text: string;
}

export interface RegistryErrorDetails {
  readonly call?: string | null;
  readonly status?: number | null;
  readonly retryAfterMs?: number | null;
  readonly registryMessage?: string | null;
  readonly mayHaveHappened?: boolean;
  readonly candidates?: readonly unknown[];
  readonly answer?: OtherAnswer | null;
  readonly cause?: unknown;
}

/** The one error of the client. Nothing that looks like a secret gets into it, whatever the registry says. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly code: RegistryErrorCode;
  /** The method and the route of what was asked; null where nothing was. */
  readonly call: string | null;
  /** The answer's status; null where none came. */
  readonly status: number | null;
  /** How long the registry asked to wait, capped; null where it did not say. */
  readonly retryAfterMs: number | null;
  /** The registry's own words, without anything that looks like a credential. */
  readonly registryMessage: string | null;
  /** Sent, and never clearly refused: a write may have taken effect although this error came. */
  readonly mayHaveHappened: boolean;
  /** What may have come of a write, for `outcome_unknown`. */
  readonly candidates: readonly unknown[];
  /** What came instead, for `other_form`. */
  readonly answer: OtherAnswer | null;

  constructor(code: RegistryErrorCode, message: string, details: RegistryErrorDetails = {}) {
    super(maskSecretLookalikes(message), details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.call = details.call == null ? null : maskSecretLookalikes(details.call);
    this.status = details.status ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.registryMessage =
      details.registryMessage == null ? null : maskSecretLookalikes(details.registryMessage);
    this.mayHaveHappened = details.mayHaveHappened ?? false;
    this.candidates = details.candidates ?? [];
    this.answer =
      details.answer == null ? null : { ...details.answer, text: maskSecretLookalikes(details.answer.text) };
  }
}

/** What to look after when the registry does not even tell where the app is installed. */
export function adviceOnAccess(code: string): string {
  return code === 'unauthorized' || code === 'forbidden'
    ? 'Do REGISTRY_APP_ID and the private key belong together, and is the public half at the registry?'
    : 'Is REGISTRY_BASE_URL right, and does this machine reach it?';
}

/** Enough of a bad value to find it by, never the whole. */
export function excerpt(value: unknown): string {
  if (typeof value !== 'string') return value === null ? 'null' : typeof value;
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
