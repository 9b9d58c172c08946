import type { Delayed } from '../../query/inbox/backlog.js';
import { since as stretchSince } from '../../text/stretch.js';

/** What waits for too long, how long and why. */
export function describeDelay({ what, since, error }: Delayed, now: number): string {
  const waits = stretchSince(since, now);
  return `${what}, and has waited for ${waits}${error === null ? '' : `: ${error}`}`;
}

/** The command that shows that very delivery or job. */
export function commandFor({ deliveryId, jobId }: Delayed): string {
  return deliveryId === null
    ? `"carbon-mirror jobs show ${jobId}"`
    : `"carbon-mirror deliveries show ${deliveryId}"`;
}
