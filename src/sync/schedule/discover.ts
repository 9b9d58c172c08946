import { type NewJob, installationJob } from '../../inbox/job.js';
import type { Mirror } from '../../mirror/mirror.js';
import type { NamedInstallation } from '../../mirror/port.js';
import { formatInstant } from '../../resources/columns.js';
import type { Context } from '../context.js';
import type { JobAtWork } from '../worker/worker.js';

export function discoverJob(trigger: string): NewJob {
  return { kind: 'discover', dedupeKey: 'discover', trigger };
}

/** Finds installations that no webhook announced. One that is missing from the list proves nothing. */
export async function discover({ client, inbox, mirror, now }: Context, atWork: JobAtWork): Promise<string> {
  let found = 0;
  for await (const page of client.app.listInstallations({ signal: atWork.signal })) {
    const unknown: NamedInstallation[] = [];
    for (const { id, organizationId } of page.items) {
      if (!(await isKnown(mirror, id))) unknown.push({ id, organizationId });
    }
    await inbox.enqueue(
      unknown.map(({ id, organizationId }) => installationJob(id, organizationId, 'schedule')),
    );
    await mirror.expect(unknown, formatInstant(now()), false);
    found += unknown.length;
    await atWork.turn();
  }
  return found === 0 ? 'nothing new' : `found ${found}`;
}

/** One that was thought gone and is listed after all is looked at again. */
async function isKnown(mirror: Mirror, id: string): Promise<boolean> {
  const state = (await mirror.findInstallation(id))?.state;
  return state === 'active' || state === 'suspended';
}
