import PQueue from 'p-queue';
import type { ClaimedJob, JobPart } from '../../inbox/job.js';
import { type StopCode, SyncError } from '../outcome.js';

/** A job that this worker has claimed, and the controller that stops its run. */
export interface JobRun {
  readonly job: ClaimedJob;
  readonly stopController: AbortController;
}

export type PartPool = ReturnType<typeof createPartPool>;

/**
 * Creates the pool of running jobs for one part of the work (`data` or `certificates`). At most `concurrency` jobs run at once. While
 * all running jobs are long, each of them frees its place for another job.
 */
export function createPartPool(part: JobPart, concurrency: number) {
  const queue = new PQueue({ concurrency });
  const runs = new Map<number, JobRun>();
  const longRunIds = new Set<number>();

  return {
    part,
    queue,
    countRuns: () => runs.size,
    listRuns: (): readonly JobRun[] => [...runs.values()],

    /** Returns how many more jobs of the pool's part can start now. If all running jobs are long, at least one more can start. */
    countFreeSlots(): number {
      const freeSlots = Math.max(concurrency - runs.size, 0);
      // Long jobs share their slots, so one more job can start if all running jobs are long.
      return runs.size === longRunIds.size ? Math.max(freeSlots, 1) : freeSlots;
    },

    /** Adds a run for a claimed job to the pool. Stops an earlier run of the same job. */
    add(job: ClaimedJob): JobRun {
      // The worker can claim its own running job again if the clock was put forward: stop the earlier run.
      runs.get(job.id)?.stopController.abort(new SyncError('claim_lost'));
      const run = { job, stopController: new AbortController() };
      runs.set(job.id, run);
      return run;
    },

    /** Marks a run as long. If all runs are long, one more job may start. */
    markLong: (jobId: number) => void longRunIds.add(jobId),

    /** Removes an ended run of a job from the pool. Returns false if a newer run of the same job has replaced it. */
    remove(run: JobRun): boolean {
      if (runs.get(run.job.id) !== run) return false;
      runs.delete(run.job.id);
      longRunIds.delete(run.job.id);
      return true;
    },

    /** Aborts the run of a job. `code` is the reason. */
    stop: (jobId: number, code: StopCode) => runs.get(jobId)?.stopController.abort(new SyncError(code)),

    /** Aborts all runs of the part. */
    stopAll(code: StopCode): void {
      for (const { stopController } of runs.values()) stopController.abort(new SyncError(code));
    },
  };
}
