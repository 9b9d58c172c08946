import { parseHttpDate } from './http-date.js';

/** The longest wait, whatever the registry asks for. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;

/**
 * Parses a Retry-After header, which has seconds or a date, to milliseconds. Returns at most 15 minutes, or null if the header
 * is missing or invalid.
 */
export function parseRetryAfter(header: string | null, serverNowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  const atMs = parseHttpDate(text);
  if (atMs === null) return null;
  return Math.min(Math.max(atMs - serverNowMs, 0), MAX_RETRY_AFTER_MS);
}

/** Computes the exponential backoff with random jitter after attempt number `attempt`, counted from 1. */
export function computeBackoffMs(attempt: number, random: () => number): number {
  const ceilingMs = Math.min(250 * 2 ** (attempt - 1), 8_000);
  return Math.round(ceilingMs / 2 + (random() * ceilingMs) / 2);
}
