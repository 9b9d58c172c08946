import type { ClaimedJob } from '../inbox/job.js';
import type { Inbox } from '../inbox/inbox.js';
import type { Failure, Outcome } from './outcome.js';

/** Write into the job's row what becomes of it. False when the claim is no longer ours. */
export function settleFailure(
  inbox: Inbox,
  job: ClaimedJob,
  outcome: Outcome,
  { code, message }: Failure,
  now: number,
): boolean {
  if (outcome.act === 'retry') return inbox.retryJob(job, outcome.at, { code, message }, now);
  if (outcome.act === 'give_back') return inbox.giveBackJob(job, outcome.at, now);
  if (outcome.act === 'park') return inbox.parkJob(job, outcome.at, { code, message }, now);
  if (outcome.act === 'bury') return inbox.buryJob(job, { code, message }, now);
  return inbox.finishJob(job, 'overtaken', now);
}
