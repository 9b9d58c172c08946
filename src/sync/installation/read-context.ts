import type { SyncCause, WriteClaim } from '../../mirror/port/sync.js';
import type { LastRead } from '../../mirror/port/read.js';
import type { OrganizationClient } from '../../registry/client-types.js';
import { RegistryError } from '../../registry/errors.js';
import type { SyncContext, ReadSummary } from '../sync-context.js';
import { parseScope, type SyncedResource, type ReadScope } from '../plan.js';
import type { RunningJob } from '../worker/execute-job.js';

/** A running job of an installation, with the cause to store in its syncs and the resources that it must read. */
export interface InstallationRun extends RunningJob {
  readonly installationId: string;
  readonly cause: SyncCause;
  readonly scope: ReadScope;
}

/**
 * Returns a job with its installation, its newest webhook and the resources that it must read. Throws `bad_request` if the job
 * names no installation.
 */
export async function resolveInstallationRun(
  { inbox }: SyncContext,
  running: RunningJob,
): Promise<InstallationRun> {
  const { job } = running;
  const { id, kind, installationId, payload } = job;
  if (installationId === null)
    throw new RegistryError('bad_request', `a job of the kind "${kind}" must name its installation`);
  const newestDeliveryId = await inbox.findNewestDelivery(job);
  return { ...running, installationId, cause: { jobId: id, newestDeliveryId }, scope: parseScope(payload) };
}

/**
 * The dependencies of the read of one resource. They give no access to a database transaction, so that no request to the registry
 * can be awaited while a transaction is open.
 */
export interface ReadContext extends SyncContext, InstallationRun {
  readonly organizationId: string;
  /** The claim that every write carries. */
  readonly writeClaim: WriteClaim;
  readonly organization: OrganizationClient;
  readonly observations: Observations;
}

/** The facts that the reads of one job have found so far. Each read updates them. */
export interface Observations {
  /** How each resource was last read before this sync. */
  readonly previousReads: Map<string, LastRead>;
  /** The errors of resources that could not be read. */
  readonly failures: Map<SyncedResource, unknown>;
  /** The errors of resources that the registry says do not exist. Believed only if the registry answers for another list. */
  readonly notFound: Map<SyncedResource, unknown>;
  hasAnsweredList: boolean;
  /** When the next outstanding reservation ends, by the registry's clock. */
  nextReservationEnd: number | null;
  /** Whether rows were added, changed or removed. */
  hasChanges: boolean;
  /** Whether retirements were added or changed, so that there may be certificates to fetch. */
  hasNewRetirements: boolean;
}

/** Creates an empty record for the errors and changes that the reads of a job find. */
export function createObservations(): Observations {
  return {
    previousReads: new Map(),
    failures: new Map(),
    notFound: new Map(),
    hasAnsweredList: false,
    nextReservationEnd: null,
    hasChanges: false,
    hasNewRetirements: false,
  };
}

/** Records in `observations` whether a read found changes and new retirements. Calls `onRead` with the summary. */
export function recordRead({ observations, onRead }: ReadContext, summary: ReadSummary): void {
  const newRows = summary.added + summary.changed;
  observations.hasChanges ||= newRows + summary.removed > 0;
  observations.hasNewRetirements ||= summary.resource === 'retirements' && newRows > 0;
  onRead?.(summary);
}
