import { type NewJob, installationJob } from '../../../inbox/job.js';
import { type Asked, readMark, readTargets, type Target } from '../../../query/reads/sync-progress.js';
import { discoverJob } from '../../../sync/schedule/discover.js';
import { RESOURCES, type Resource, writeWish } from '../../../sync/plan.js';
import { CommandFault, EXIT } from '../../exit.js';
import { withInbox } from '../../place/inbox-writer.js';
import { type Io, say } from '../../io.js';
import { organizationOrAll } from '../../named/in-mirror.js';
import { type Place, reading } from '../../place/place.js';

export interface Wanted {
  readonly organization?: string;
  readonly resource?: string;
  readonly full?: boolean;
}

/** Put what is wanted into the queue, where it stays although this process may be gone before it is done. */
export async function askForSync(io: Io, place: Place, wanted: Wanted): Promise<Asked> {
  await place.engine.prepare(['inbox', 'mirror'], io.now(), what =>
    say(io, `Waiting a minute for the database: ${what}.`),
  );
  const { organizationId, mark, targets } = await look(io, place, wanted.organization);
  if (organizationId !== null && targets.length === 0) {
    throw new CommandFault(
      EXIT.notThere,
      `No installation on the organization ${organizationId} is known.`,
      '"carbon-mirror sync" alone looks for new installations.',
    );
  }
  const wish = wishOf(wanted);
  const looks = targets.map(target => jobOf(target, wish));
  const wantedJobs = organizationId === null ? [...looks, discoverJob('person')] : looks;
  const jobs = await withInbox(place, io.now, inbox => inbox.enqueue(wantedJobs));
  return { mark, jobs, organizationId };
}

async function look(io: Io, place: Place, organization: string | undefined) {
  return await reading(place, async reader => {
    const organizationId = await organizationOrAll(reader, organization);
    const mark = await readMark(reader, io.now());
    return { organizationId, mark, targets: await readTargets(reader, organizationId) };
  });
}

function jobOf({ installationId, organizationId }: Target, wish: Record<string, unknown>): NewJob {
  const job = installationJob(installationId, organizationId, 'person');
  return Object.keys(wish).length === 0 ? job : { ...job, payload: wish };
}

/** Certificates are no resource of a look: they follow every one, also one that reads nothing. */
function wishOf({ resource, full = false }: Wanted): Record<string, unknown> {
  if (resource === undefined) return writeWish({ resources: null, full });
  return writeWish({ resources: RESOURCES.filter((name): name is Resource => name === resource), full });
}
