import type { JobEnd } from '../../inbox/job.js';
import type { Failure, Outcome } from '../outcome.js';

/** What is written into the row of a job that failed. */
export function endOf(outcome: Outcome, { code, message }: Failure, now: number): JobEnd {
  const error = { code, message };
  if (!('at' in outcome)) {
    return outcome.act === 'bury' ? { act: 'bury', error } : { act: 'done', outcome: 'overtaken' };
  }
  const inMs = outcome.at - now;
  return outcome.act === 'give_back' ? { act: 'give_back', inMs } : { act: outcome.act, inMs, error };
}
