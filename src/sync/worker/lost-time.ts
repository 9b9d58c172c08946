import type { CallRecord } from '../../registry/http/calls.js';

/** One attempt of one call, in epoch milliseconds. */
export interface Attempt {
  readonly from: number;
  readonly to: number;
  readonly code: CallRecord['code'];
}

const PASSING: readonly CallRecord['code'][] = ['timeout', 'unavailable', 'rate_limited'];

/**
 * How long nothing was done but to wait for answers that never came, and for the moment to ask again: each failed
 * attempt lasts until the next one begins. Two that were waited for at once count once.
 */
export function lostMs(attempts: readonly Attempt[]): number {
  const failed = attempts.filter(({ code }) => PASSING.includes(code)).toSorted((a, b) => a.from - b.from);
  if (failed.length === 0) return 0;
  const starts = attempts.map(({ from }) => from).toSorted((a, b) => a - b);
  let lost = 0;
  let counted = -Infinity;
  for (const { from, to } of failed) {
    const until = starts.find(start => start >= to) ?? to;
    lost += Math.max(0, until - Math.max(from, counted));
    counted = Math.max(counted, until);
  }
  return lost;
}
