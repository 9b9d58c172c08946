import { type NewJob, installationJob } from '../../../inbox/job.js';
import { type Asked, readMark, readTargets, type Target } from '../../../query/reads/sync-progress.js';
import { discoverJob } from '../../../sync/schedule/discover.js';
import { RESOURCES, type Resource, writeWish } from '../../../sync/plan.js';
import { notThereFault } from '../../exit.js';
import type { Context } from '../../context.js';
import { organizationOrAll } from '../../find/in-mirror.js';
import { meansDemo } from '../../connect/find-mirror.js';

export interface Wanted {
  readonly organization: string | undefined;
  readonly resource: string | undefined;
  readonly full: boolean;
}

/** Put what is wanted into the queue, where it stays although this process may be gone before it is done. */
export async function askForSync(context: Context, wanted: Wanted): Promise<Asked> {
  const { io, say } = context;
  const { engine } = meansDemo(io.env) ? context.location() : context.settings();
  await engine.prepare(['inbox', 'mirror'], io.now(), what =>
    say(`Waiting a minute for the database: ${what}.`),
  );
  const reader = await context.reader();
  const organizationId = await organizationOrAll(reader, wanted.organization);
  const mark = await readMark(reader, io.now());
  const targets = await readTargets(reader, organizationId);
  if (organizationId !== null && targets.length === 0) {
    throw notThereFault(
      `No installation on the organization ${organizationId} is known.`,
      '"carbon-mirror sync" alone looks for new installations.',
    );
  }
  const wish = wishOf(wanted);
  const looks = targets.map(target => jobOf(target, wish));
  const wantedJobs = organizationId === null ? [...looks, discoverJob('person')] : looks;
  const inbox = await context.inbox();
  return { mark, jobs: await inbox.enqueue(wantedJobs), organizationId };
}

function jobOf({ installationId, organizationId }: Target, wish: Record<string, unknown>): NewJob {
  const job = installationJob(installationId, organizationId, 'person');
  return Object.keys(wish).length === 0 ? job : { ...job, payload: wish };
}

/** Certificates are no resource of their own here: they follow every sync, also one that reads nothing. */
function wishOf({ resource, full }: Wanted): Record<string, unknown> {
  if (resource === undefined) return writeWish({ resources: null, full });
  return writeWish({ resources: RESOURCES.filter((name): name is Resource => name === resource), full });
}
