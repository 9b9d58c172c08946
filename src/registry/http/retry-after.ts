import { parseHttpDate } from './http-date.js';

/** The longest wait, whatever the registry asks for. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;

/**
 * Returns the wait that a Retry-After header asks for (in seconds, or until a date), at most 15 minutes; null if it is
 * unreadable.
 */
export function parseRetryAfter(header: string | null, serverNowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  const atMs = parseHttpDate(text);
  if (atMs === null) return null;
  return Math.min(Math.max(atMs - serverNowMs, 0), MAX_RETRY_AFTER_MS);
}

/**
 * Computes the exponential backoff after an attempt, counted from 1. It has jitter, so that many callers do not retry at
 * once.
 */
export function computeBackoffMs(attempt: number, random: () => number): number {
  const ceilingMs = Math.min(250 * 2 ** (attempt - 1), 8_000);
  return Math.round(ceilingMs / 2 + (random() * ceilingMs) / 2);
}
