import { createHash } from 'node:crypto';
import { setImmediate as otherWork } from 'node:timers/promises';
import { installationJob } from '../../inbox/job.js';
import type { Context } from '../context.js';
import { discoverJob } from './discover.js';
import type { JobAtWork } from '../worker/worker.js';

const DAY_MS = 86_400_000;
/** A receiver waits for each write no longer than it may. */
const ENQUEUED_AT_ONCE = 100;
/** Reads end before the next tick: they are spread over this part of the interval. */
const PART = 0.8;

/**
 * Every installation that is not uninstalled is looked at again, each at its own place in the interval;
 * suspended ones cost two calls. Installations that no webhook announced are looked for at once.
 */
export async function tick(context: Context, atWork: JobAtWork): Promise<string> {
  const { inbox, mirror, now, retentionDays } = context;
  const intervalMs = Number(atWork.job.payload['intervalMs'] ?? 0);
  await inbox.enqueue([discoverJob('schedule')]);
  const installations = await mirror.listInstallations();
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
  if (retentionDays > 0) await mirror.pruneRuns(now() - retentionDays * DAY_MS);
  return 'enqueued';
}

/** Where in the interval an organization has its place: always the same, and evenly over all of them. */
export function offsetInInterval(organizationId: string, intervalMs: number): number {
  const hash = createHash('sha256').update(organizationId).digest().readUInt32BE(0);
  return Math.floor((hash / 2 ** 32) * intervalMs * PART);
}
