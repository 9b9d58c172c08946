import { readHttpDate } from './http-date.js';

/** Nobody is made to wait longer than this, whatever the registry asks for. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;

/** Reads seconds or an HTTP date. Text that is neither is null; an absurd wait is cut to the cap. */
export function readRetryAfter(header: string | null, serverNowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  const atMs = readHttpDate(text);
  if (atMs === null) return null;
  return Math.min(Math.max(atMs - serverNowMs, 0), MAX_RETRY_AFTER_MS);
}

/** Doubles from one try to the next; the jitter keeps many callers from coming back together. */
export function backoffMs(attempt: number, random: () => number): number {
  const ceilingMs = Math.min(250 * 2 ** (attempt - 1), 8_000);
  return Math.round(ceilingMs / 2 + (random() * ceilingMs) / 2);
}
