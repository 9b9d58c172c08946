import type { Delayed } from '../../query/inbox/backlog.js';
import { stretch } from '../../text/stretch.js';

/** What waits for too long, how long and why. */
export function describeDelay({ what, since, error }: Delayed, now: number): string {
  const waits = stretch((now - Date.parse(since)) / 1000);
  return `${what}, and has waited for ${waits}${error === null ? '' : `: ${error}`}`;
}

/** The command that shows that very delivery or job. */
export function commandFor({ deliveryId, jobId }: Delayed): string {
  return deliveryId === null
    ? `"carbon-mirror jobs show ${jobId}"`
    : `"carbon-mirror deliveries show ${deliveryId}"`;
}
