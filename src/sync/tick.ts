import { setImmediate as otherWork } from 'node:timers/promises';
import { installationJob } from '../inbox/job.js';
import type { Context } from './context.js';
import { discoverJob } from './discover.js';
import { placeInInterval } from './spread.js';
import type { Run } from './worker.js';

const DAY_MS = 86_400_000;

/**
 * Every installation that is not uninstalled is looked at again, each at its own place in the interval;
 * suspended ones cost two calls. Installations that no webhook announced are looked for at once.
 */
export async function tick(context: Context, run: Run): Promise<string> {
  const { inbox, mirror, now, retentionDays } = context;
  const intervalMs = Number(run.job.payload['intervalMs'] ?? 0);
  inbox.enqueue(discoverJob('schedule'), now());
  for (const { id, organizationId, state } of await mirror.listInstallations()) {
    if (state === 'uninstalled') continue;
    await run.turn();
    const runAt = now() + placeInInterval(organizationId ?? id, intervalMs);
    inbox.enqueue({ ...installationJob(id, organizationId, 'schedule'), runAt }, now());
  }
  while (inbox.prune(now(), retentionDays) !== null) await otherWork();
  if (retentionDays > 0) await mirror.pruneRuns(now() - retentionDays * DAY_MS);
  return 'enqueued';
}
