import { createInstallationJob, type NewJob } from '../../inbox/job.js';
import type { KnownInstallation } from '../../mirror/port/mirror-port.js';
import type { Installation } from '../../registry/object-models.js';
import { observePages } from '../../registry/pages/paged-lists.js';
import type { UnreadableRow } from '../../registry/read-types.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { SyncContext } from '../sync-context.js';
import type { RunningJob } from '../worker/execute-job.js';

/** Creates a job that reads the registry's list of installations. */
export function createDiscoverJob(trigger: string): NewJob {
  return { kind: 'discover', dedupeKey: 'discover', trigger };
}

/** Lists the registry's installations, and enqueues a job for each new, changed or missing one. Returns the job's outcome. */
export async function discoverInstallations(
  { client, inbox, mirror, now }: SyncContext,
  running: RunningJob,
): Promise<string> {
  const startedAt = now();
  const known = new Map((await mirror.listInstallations()).map(each => [each.id, each]));
  const unreadable: UnreadableRow[] = [];
  let foundCount = 0;
  let allShowPermissions = true;
  const onUnreadable = (row: UnreadableRow) => void unreadable.push(row);
  const installations = client.app.listInstallations({ signal: running.signal, onUnreadable });
  for await (const page of observePages(installations)) {
    // An uninstalled installation that is listed again counts as new.
    const found = page.items.filter(({ id }) => !isInstalled(known.get(id)));
    const changed = page.items.filter(installation =>
      differsFromMirror(installation, known.get(installation.id)),
    );
    allShowPermissions &&= page.items.every(({ permissions }) => permissions !== null);
    for (const { id } of page.items) known.delete(id);
    await inbox.enqueue([...createJobs(found, 'schedule'), ...createJobs(changed, 'worker')]);
    await mirror.report({ at: formatInstant(now()), awaitedInstallations: found });
    foundCount += found.length;
    await running.yieldTurn();
  }
  // A missing row does not prove that the app was uninstalled. A row that cannot be read counts as missing.
  const missing = [...known.values()].filter(isInstalled);
  await inbox.enqueue(createJobs(missing, 'worker'));
  // Only a complete list lets the jobs of this round skip their own call for each installation.
  if (allShowPermissions && unreadable.length === 0)
    await mirror.report({ at: formatInstant(now()), listedAt: startedAt });
  return describeDiscovery(foundCount, unreadable);
}

/** Formats the outcome of a discover job, such as `found 3` or `nothing new`. */
function describeDiscovery(foundCount: number, unreadable: readonly UnreadableRow[]): string {
  const outcome = foundCount === 0 ? 'nothing new' : `found ${foundCount}`;
  const [first] = unreadable;
  if (first === undefined) return outcome;
  return `${outcome}; ${unreadable.length} could not be read (${first.error.message})`;
}

/** Whether the mirror has the installation as active or suspended. */
function isInstalled(known: KnownInstallation | undefined): boolean {
  return known?.state === 'active' || known?.state === 'suspended';
}

/** Whether an installation has another organization or other permissions than in the mirror. False for a new installation. */
function differsFromMirror(
  { organizationId, permissions }: Installation,
  known: KnownInstallation | undefined,
): boolean {
  if (known === undefined || !isInstalled(known)) return false;
  // Null means that the registry omitted the field.
  const hasMoved = organizationId !== null && organizationId !== known.organizationId;
  return hasMoved || (permissions !== null && JSON.stringify(permissions) !== known.permissions);
}

/** Creates a read job for each installation. */
function createJobs(
  installations: readonly Pick<Installation, 'id' | 'organizationId'>[],
  trigger: string,
): NewJob[] {
  return installations.map(({ id, organizationId }) => createInstallationJob(id, organizationId, trigger));
}
