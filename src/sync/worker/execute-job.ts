import { type ClaimedJob, type JobEnd, UNCHANGED_OUTCOME } from '../../inbox/job.js';
import { decideOutcome, describeFailure, type Failure, toJobEnd } from '../outcome.js';
import type { InboxPort } from '../../inbox/port.js';
import type { WorkerLog } from './worker-log.js';
import type { SettleJob } from './settlement-batches.js';

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

/** A job after its run, as metrics count it. */
export interface EndedJob {
  readonly kind: string;
  readonly outcome: string;
  readonly code: string | null;
  readonly ms: number;
}

/** The dependencies of `recordJobEnd`. */
export interface JobEndOptions {
  readonly settleJob: SettleJob;
  readonly log: WorkerLog;
  readonly onEnded: ((ended: EndedJob) => void) | undefined;
}

/** Records in the inbox and the log how a job ended. If the inbox fails, the job runs again when its lease expires. */
export async function recordJobEnd(
  job: ClaimedJob,
  { outcome, failure, end }: JobResult,
  durationMs: number,
  { settleJob, log, onEnded }: JobEndOptions,
): Promise<void> {
  const { id, kind, installationId } = job;
  const fields = { job: id, kind, installation: installationId, outcome, ms: durationMs };
  try {
    const held = await settleJob({ claim: job, end });
    onEnded?.({ kind, outcome, code: failure?.code ?? null, ms: durationMs });
    if (failure === null) log.info({ ...fields, held }, 'job done');
    else log.warn({ ...fields, held, error: failure }, 'job failed');
  } catch (error) {
    const message = 'job could not be settled; it runs again when its lease expires';
    log.warn({ ...fields, error: describeFailure(error) }, message);
  }
}

/** Returns claimed jobs to the inbox without counting an attempt. Logs an error of the inbox instead of throwing it. */
export async function releaseJobs(
  jobs: readonly ClaimedJob[],
  { inbox, log }: { readonly inbox: Pick<InboxPort, 'settle'>; readonly log: WorkerLog },
): Promise<void> {
  if (jobs.length === 0) return;
  try {
    await inbox.settle(jobs.map(job => ({ claim: job, end: { act: 'release', delayMs: 0, error: null } })));
  } catch (error) {
    const jobIds = jobs.map(({ id }) => id);
    const message = 'jobs could not be released; they run again when their leases expire';
    log.warn({ jobs: jobIds, error: describeFailure(error) }, message);
  }
}
