import { installationJob, type NewJob } from '../../inbox/job.js';
import type { KnownInstallation } from '../../mirror/port.js';
import type { Installation } from '../../registry/model.js';
import type { UnreadableRow } from '../../registry/read-types.js';
import { formatInstant } from '../../resources/columns.js';
import type { Context } from '../context.js';
import type { JobAtWork } from '../worker/worker.js';

export function discoverJob(trigger: string): NewJob {
  return { kind: 'discover', dedupeKey: 'discover', trigger };
}

/**
 * Reads the registry's list of installations. One that no webhook announced is looked at, and counted from now on; so
 * is one of which the list says something else than is known, and one that is missing from it, which proves nothing. A known one whose row cannot be read counts as missing.
 */
export async function discover({ client, inbox, mirror, now }: Context, atWork: JobAtWork): Promise<string> {
  const startedAt = now();
  const known = new Map((await mirror.installations()).map(each => [each.id, each]));
  let found = 0;
  let isAllSaid = true;
  const unreadable: UnreadableRow[] = [];
  const onUnreadable = (row: UnreadableRow) => void unreadable.push(row);
  for await (const page of client.app.listInstallations({ signal: atWork.signal, onUnreadable })) {
    const unknown = page.items.filter(({ id }) => !isLive(known.get(id)));
    const changed = page.items.filter(each => isOther(each, known.get(each.id)));
    isAllSaid &&= page.items.every(({ permissions }) => permissions !== null);
    for (const { id } of page.items) known.delete(id);
    await inbox.enqueue([...jobsOf(unknown, 'schedule'), ...jobsOf(changed, 'worker')]);
    await mirror.tell({ at: formatInstant(now()), named: unknown });
    found += unknown.length;
    await atWork.turn();
  }
  await inbox.enqueue(jobsOf([...known.values()].filter(isLive), 'worker'));
  if (isAllSaid && unreadable.length === 0)
    await mirror.tell({ at: formatInstant(now()), listedAt: startedAt });
  const word = found === 0 ? 'nothing new' : `found ${found}`;
  const [first] = unreadable;
  return first === undefined
    ? word
    : `${word}; ${unreadable.length} could not be read (${first.error.message})`;
}

/** One that was thought gone and is listed after all is looked at again. */
function isLive(known: KnownInstallation | undefined): boolean {
  return known?.state === 'active' || known?.state === 'suspended';
}

/** Where the list does not say it, nothing is compared. */
function isOther(
  { organizationId, permissions }: Installation,
  known: KnownInstallation | undefined,
): boolean {
  if (known === undefined || !isLive(known)) return false;
  const isMoved = organizationId !== null && organizationId !== known.organizationId;
  return isMoved || (permissions !== null && JSON.stringify(permissions) !== known.permissions);
}

function jobsOf(
  installations: readonly Pick<Installation, 'id' | 'organizationId'>[],
  trigger: string,
): NewJob[] {
  return installations.map(({ id, organizationId }) => installationJob(id, organizationId, trigger));
}
