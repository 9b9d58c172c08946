import { setImmediate as waitForEventLoop } from 'node:timers/promises';
import { createInstallationJob } from '../../inbox/job.js';
import type { SyncContext } from '../sync-context.js';
import { computeIntervalOffset } from '../plan.js';
import type { RunningJob } from '../worker/execute-job.js';
import { discoverInstallations, createDiscoverJob } from './discover-installations.js';

const DAY_MS = 86_400_000;
/** Jobs are enqueued in batches, because the receiver waits for each write. */
const ENQUEUE_BATCH_SIZE = 100;

/** Runs a round of the schedule: looks for new installations, enqueues a read of each installation, and deletes expired data. */
export async function runTick(context: SyncContext, running: RunningJob): Promise<string> {
  const { inbox, mirror, now, retentionDays } = context;
  const intervalMs = Number(running.job.payload['intervalMs']);
  await tryDiscoverInstallations(context, running);
  const installations = await mirror.listInstallations();
  const jobs = installations
    .filter(({ state }) => state !== 'uninstalled')
    .map(({ id, organizationId }) => ({
      ...createInstallationJob(id, organizationId, 'schedule'),
      startDelayMs: computeIntervalOffset(organizationId ?? id, intervalMs),
    }));
  for (let start = 0; start < jobs.length; start += ENQUEUE_BATCH_SIZE) {
    await running.yieldTurn();
    await inbox.enqueue(jobs.slice(start, start + ENQUEUE_BATCH_SIZE));
  }
  while ((await inbox.prune(retentionDays)) !== null) await waitForEventLoop();
  if (retentionDays > 0) await mirror.pruneSyncs(now() - retentionDays * DAY_MS);
  return 'enqueued';
}

/** Looks for new and changed installations. If the registry cannot be read, enqueues a retry job instead of throwing. */
async function tryDiscoverInstallations(context: SyncContext, running: RunningJob): Promise<void> {
  try {
    await discoverInstallations(context, running);
  } catch {
    running.signal.throwIfAborted();
    await context.inbox.enqueue([createDiscoverJob('schedule')]);
  }
}
