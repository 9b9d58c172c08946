import { RegistryError, type RegistryErrorCode } from '../errors.js';
import { isObject } from '../model.js';

export interface Refusal {
  readonly status: number;
  readonly call: string;
  readonly bodyText: string;
  readonly retryAfterMs: number | null;
  /** Takes secrets out of what the registry says. */
  readonly mask: (text: string) => string;
}

/** Turns an answer that is no success into the error it means. */
export function refusalOf({ status, call, bodyText, retryAfterMs, mask }: Refusal): RegistryError {
  const message = registryMessage(status, bodyText);
  const code = codeOf(status, message !== null);
  const registrySaid = message === null ? null : shown(mask(message));
  const detail = registrySaid === null ? '' : `: ${registrySaid}`;
  return new RegistryError(code, `${call} answered ${status}${detail}`, {
    call,
    status,
    retryAfterMs,
    registryMessage: registrySaid,
    mayHaveHappened: status < 400 || status === 408 || status >= 500,
  });
}

function codeOf(status: number, own: boolean): RegistryErrorCode {
  if (status < 400) return 'bad_answer';
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return own ? 'not_found' : 'bad_answer';
  if (status === 409) return 'conflict';
  if (status === 429) return 'rate_limited';
  if (status === 408 || status >= 500) return 'unavailable';
  return 'invalid';
}

/** The registry's own error shape, `{ statusCode, message }`; null for anybody else's. */
function registryMessage(status: number, bodyText: string): string | null {
  const body = parsed(bodyText);
  if (!isObject(body) || body['statusCode'] !== status) return null;
  const message = body['message'];
  if (typeof message === 'string') return message;
  if (Array.isArray(message) && message.every(line => typeof line === 'string')) return message.join('; ');
  return null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const MAX_SHOWN = 500;

/** After it was masked: a piece of a secret would not be known for one. */
function shown(message: string): string {
  const cleaned = message.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
  return cleaned.length > MAX_SHOWN ? `${cleaned.slice(0, MAX_SHOWN)}…` : cleaned;
}
