import type { ClaimedJob } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import { describeFailure } from '../outcome.js';
import type { JobResult } from './execute-job.js';
import type { WorkerLog } from './worker-log.js';
import type { SettleJob } from './settlement-batches.js';

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
    await inbox.settle(jobs.map(job => ({ claim: job, end: { act: 'release', delayMs: 0 } })));
  } catch (error) {
    const jobIds = jobs.map(({ id }) => id);
    const message = 'jobs could not be released; they run again when their leases expire';
    log.warn({ jobs: jobIds, error: describeFailure(error) }, message);
  }
}
