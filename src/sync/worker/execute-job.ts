import { type ClaimedJob, type JobEnd, UNCHANGED_OUTCOME } from '../../inbox/job.js';
import { decideOutcome, describeFailure, type Failure, toJobEnd } from '../outcome.js';

/** A job in progress, as its handler sees it. */
export interface RunningJob {
  readonly job: ClaimedJob;
  /** Aborted when the claim is lost, access is gone, reads are paused or the process shuts down. */
  readonly signal: AbortSignal;
  /** Lets other jobs run. A handler awaits this after every page and resource. Throws if the run was stopped. */
  readonly yieldTurn: () => Promise<void>;
}

/** Does a job and returns its outcome, a word for people to read. If it throws, the error decides how the job ends. */
export type JobHandler = (running: RunningJob) => Promise<string>;

/** How a run ended: the outcome to report, the failure behind it, and what to write to the inbox. */
export interface JobResult {
  readonly outcome: string;
  readonly failure: Failure | null;
  readonly end: JobEnd;
}

/** The dependencies of `executeJob`. */
export interface ExecuteOptions {
  readonly handleJob: JobHandler;
  readonly now: () => number;
  readonly random: () => number;
}

/** Returns how the inbox records a successful job: `done`, or `unchanged` for a scheduled job that found no changes. */
function toSuccessfulEnd(job: ClaimedJob, outcome: string): JobEnd {
  // An unchanged job replaces the previous one, because a fleet would fill the disk with equal rows.
  const isQuiet = job.trigger === 'schedule' && outcome === UNCHANGED_OUTCOME && job.attempts === 1;
  return isQuiet ? { act: 'unchanged' } : { act: 'done', outcome };
}

/** Runs the handler of a job and returns how the job ended. An error becomes a result, so the promise never rejects. */
export async function executeJob(
  running: RunningJob,
  { handleJob, now, random }: ExecuteOptions,
): Promise<JobResult> {
  const { job, signal } = running;
  try {
    signal.throwIfAborted();
    const outcome = await handleJob(running);
    return { outcome, failure: null, end: toSuccessfulEnd(job, outcome) };
  } catch (error) {
    const failure = describeFailure(signal.aborted ? signal.reason : error);
    const outcome = decideOutcome(failure, { now: now(), attempts: job.attempts, random });
    return { outcome: outcome.act, failure, end: toJobEnd(outcome, failure, now()) };
  }
}
