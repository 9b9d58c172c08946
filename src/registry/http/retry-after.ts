import { parseHttpDate } from './http-date.js';

/** The longest wait, whatever the registry asks for. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;

/** Parses a Retry-After header, in seconds or as a date, to milliseconds. Limits the wait to 15 minutes. */
export function parseRetryAfter(header: string | null, serverNowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  const atMs = parseHttpDate(text);
  if (atMs === null) return null;
  return Math.min(Math.max(atMs - serverNowMs, 0), MAX_RETRY_AFTER_MS);
}

/** Computes the exponential backoff before the next attempt, with random jitter. The first attempt has number 1. */
export function computeBackoffMs(attempt: number, random: () => number): number {
  const ceilingMs = Math.min(250 * 2 ** (attempt - 1), 8_000);
  return Math.round(ceilingMs / 2 + (random() * ceilingMs) / 2);
}
