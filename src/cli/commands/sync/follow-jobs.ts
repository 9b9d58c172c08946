import { createInstallationJob, type NewJob } from '../../../inbox/job.js';
import {
  type FollowedRequest,
  type FollowedJob,
  isAnyJobRunning,
  readFollowed,
  readWatermark,
} from '../../../query/sync-progress.js';
import { readInstallationTargets } from '../../../query/at-registry.js';
import { createDiscoverJob } from '../../../sync/schedule/discover-installations.js';
import { RESOURCES, serializeScope } from '../../../sync/plan.js';
import { createCheckError, throwIfInterrupted } from '../../command-error.js';
import { type CommandContext, type MirrorContext } from '../../context.js';
import { findInstallationOfOrganization } from '../../find-rows.js';
import { findRegistrySettings } from '../../mirror-location.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from '../../../app/process-health.js';
import { startWorker } from '../../../app/work.js';
import { readSettings } from '../../../app/config/read-settings.js';
import { describeDisk } from '../../../store/contract/disk-space.js';
import { createLog } from '../../../app/log.js';
import { createMask } from '../../../text/mask.js';

/** The options of `sync`; undefined for all. */
interface SyncSelection {
  readonly organization: string | undefined;
  readonly resource: string | undefined;
  readonly full: boolean;
}

/** Enqueues jobs that read the selected data. Pass the result to `followJobs`. */
export async function enqueueSync(
  context: CommandContext,
  { organization, resource, full }: SyncSelection,
): Promise<FollowedRequest> {
  const { io, printNotice } = context;
  const isConfigured = findRegistrySettings(io.env).length > 0;
  const { engine } = isConfigured ? context.findMirror() : context.requireMirror();
  await engine.prepare(['inbox', 'mirror'], io.now(), what =>
    printNotice(`Waiting up to a minute for the database: ${what}.`),
  );
  const reader = await context.openReader();
  const installation =
    organization === undefined ? null : await findInstallationOfOrganization(reader, organization);
  const organizationId = installation?.organizationId ?? null;
  const watermark = await readWatermark(reader, io.now());
  const targets = await readInstallationTargets(reader, organizationId);
  /** No job names certificates as something to read. They are fetched after every sync, even if it reads no list. */
  const resources = resource === undefined ? null : RESOURCES.filter(name => name === resource);
  const payload = serializeScope({ resources, full });
  const installationJobs = targets.map(({ installation_id, organization_id }): NewJob => {
    const job = createInstallationJob(installation_id, organization_id, 'person');
    return Object.keys(payload).length === 0 ? job : { ...job, payload };
  });
  const jobs =
    organizationId === null ? [...installationJobs, createDiscoverJob('person')] : installationJobs;
  return { watermark, jobs: await (await context.openInbox()).enqueue(jobs), organizationId };
}

const POLL_MS = 200;
/** A worker polls the inbox forty times a second. If a due job is not claimed for this long, no worker runs. */
const NO_WORKER_AFTER_MS = 1500;

/** Waits until the requested jobs have ended and returns them. Starts a worker in this process if no worker runs. */
export async function followJobs(
  context: CommandContext,
  request: FollowedRequest,
  interrupted: AbortSignal,
) {
  const { io } = context;
  const reader = await context.openReader();
  let unclaimedSince: number | null = null;
  let ownWorker: RunningProcess | null = null;
  try {
    for (;;) {
      const jobs = await readFollowed(reader, request, io.now());
      const openJobs = jobs.filter(job => mustWaitForJob(job, request.watermark.at, io.now()));
      if (openJobs.length === 0)
        return { jobs, by: ownWorker === null ? 'the running worker' : 'this process' };
      const isAnyDue = openJobs.some(job => isJobDue(job, io.now()));
      const isUnclaimed = isAnyDue && !(await isAnyJobRunning(reader, io.now()));
      unclaimedSince = isUnclaimed ? (unclaimedSince ?? io.now()) : null;
      if (unclaimedSince !== null && io.now() - unclaimedSince >= NO_WORKER_AFTER_MS) {
        throwIfDiskFull(context.requireMirror());
        ownWorker ??= await startOwnWorker(context);
      }
      const pause = sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => undefined);
      await Promise.race([pause, ...(ownWorker === null ? [] : [ownWorker.failed])]);
      throwIfInterrupted(interrupted, INTERRUPTED);
    }
  } finally {
    await ownWorker?.stop();
  }
}

const INTERRUPTED =
  'Interrupted. Finished reads are kept; the rest waits for a worker or the next "carbon-mirror sync".';

/** Throws if the disk is nearly full. Workers then claim no jobs, so waiting might never end. */
function throwIfDiskFull({ engine }: MirrorContext): void {
  const disk = engine.measureDisk();
  if (!disk?.paused) return;
  throw createCheckError(
    `Reads and certificates are paused: ${describeDisk(disk)}.`,
    'The jobs wait until there is disk space and a worker.',
  );
}

/** Whether `sync` must keep waiting for a job. It does not wait for the retry of a job that failed after `requestedAt`. */
function mustWaitForJob(
  { state, attempts, started_at: startedAt, run_at: runAt }: FollowedJob,
  requestedAt: string,
  now: number,
): boolean {
  if (state === 'running') return true;
  if (state !== 'waiting') return false;
  // A job that failed after the request only waits for its retry.
  const hasFailed = attempts > 0 && (startedAt ?? '') >= requestedAt && Date.parse(runAt) > now;
  return !hasFailed;
}

/** Returns whether a waiting job has reached its run time. */
function isJobDue({ state, run_at: runAt }: FollowedJob, now: number): boolean {
  return state === 'waiting' && Date.parse(runAt) <= now;
}

/** Starts a worker in this process that runs the waiting jobs. The worker has no schedule, port or log. */
async function startOwnWorker({ io, requireMirror, printNotice }: CommandContext): Promise<RunningProcess> {
  const settings = await readSettings(requireMirror().env, 'work');
  const mask = createMask([settings.privateKey]);
  const log = createLog({ level: 'silent', mask, now: io.now, pretty: false });
  printNotice('No worker is running: reading in this process.');
  const running = await startWorker(
    { ...settings, syncSchedule: null, operationsPort: 0 },
    { log, now: io.now },
  );
  /** followJobs handles the rejection; this keeps Node from reporting it as unhandled before. */
  running.failed.catch(() => undefined);
  return running;
}
