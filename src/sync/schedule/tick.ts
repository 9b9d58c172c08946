import { setImmediate as otherWork } from 'node:timers/promises';
import { installationJob } from '../../inbox/job.js';
import type { Context } from '../context.js';
import { discover, discoverJob } from './discover.js';
import type { JobAtWork } from '../worker/worker.js';
import { offsetInInterval } from './offset.js';

const DAY_MS = 86_400_000;
/** A receiver waits for each write no longer than it may. */
const ENQUEUED_AT_ONCE = 100;

/**
 * Every installation that is not uninstalled is looked at again, each at its own place in the interval; suspended ones
 * cost two calls. The registry's list comes first: what it says need not be asked for again, installation by installation.
 */
export async function tick(context: Context, atWork: JobAtWork): Promise<string> {
  const { inbox, mirror, now, retentionDays } = context;
  const intervalMs = Number(atWork.job.payload['intervalMs'] ?? 0);
  await list(context, atWork);
  const installations = await mirror.installations();
  const jobs = installations
    .filter(({ state }) => state !== 'uninstalled')
    .map(({ id, organizationId }) => ({
      ...installationJob(id, organizationId, 'schedule'),
      startInMs: offsetInInterval(organizationId ?? id, intervalMs),
    }));
  for (let from = 0; from < jobs.length; from += ENQUEUED_AT_ONCE) {
    await atWork.turn();
    await inbox.enqueue(jobs.slice(from, from + ENQUEUED_AT_ONCE));
  }
  while ((await inbox.prune(retentionDays)) !== null) await otherWork();
  if (retentionDays > 0) await mirror.pruneSyncs(now() - retentionDays * DAY_MS);
  return 'enqueued';
}

/** Where it cannot be read now, a job of its own tries again, and says why. */
async function list({ inbox, ...context }: Context, atWork: JobAtWork): Promise<void> {
  try {
    await discover({ inbox, ...context }, atWork);
  } catch {
    atWork.signal.throwIfAborted();
    await inbox.enqueue([discoverJob('schedule')]);
  }
}
