import type { SyncCause, LastRead, WriteClaim } from '../../mirror/port.js';
import type { OrganizationClient } from '../../registry/clients.js';
import { RegistryError } from '../../registry/errors.js';
import type { SyncContext, ReadSummary } from '../context.js';
import { parseScope, type Resource, type ReadScope } from '../plan.js';
import type { RunningJob } from '../worker/worker.js';

/** A job of an installation that knows why it is made, to write it beside what it reads, and what it is asked for. */
export interface CausedJob extends RunningJob {
  readonly installationId: string;
  readonly cause: SyncCause;
  readonly wish: ReadScope;
}

export async function withCause({ inbox }: SyncContext, atWork: RunningJob): Promise<CausedJob> {
  const { job } = atWork;
  const { id, kind, installationId, payload } = job;
  if (installationId === null)
    throw new RegistryError('bad_request', `a job of the kind ${kind} must name its installation`);
  const newestDeliveryId = await inbox.findNewestDelivery(job);
  return { ...atWork, installationId, cause: { jobId: id, newestDeliveryId }, wish: parseScope(payload) };
}

/** What reading one resource is given. Nothing here can begin a transaction that something slow is awaited in. */
export interface Step extends SyncContext, CausedJob {
  readonly organizationId: string;
  /** The claim that every write carries. */
  readonly task: WriteClaim;
  readonly organization: OrganizationClient;
  readonly observed: Observed;
}

/** What one sync has come to know. */
export interface Observed {
  /** How the mirror knew each resource before its latest read. */
  readonly before: Map<string, LastRead>;
  /** What went wrong with each resource that could not be read. */
  readonly failures: Map<Resource, unknown>;
  /** What the registry says is not there. It counts only where other lists of the organization are answered. */
  readonly absent: Map<Resource, unknown>;
  /** Whether one of them was. */
  answered: boolean;
  /** When the next outstanding reservation ends, by the registry's clock. */
  reservationEnd: number | null;
  /** Rows came, changed or went. */
  news: boolean;
  /** Retirements came or changed: there may be certificates to fetch. */
  retired: boolean;
}

export function createObserved(): Observed {
  return {
    before: new Map(),
    failures: new Map(),
    absent: new Map(),
    answered: false,
    reservationEnd: null,
    news: false,
    retired: false,
  };
}

/** Each time that a list was read. */
export function noteRead({ observed, onRead }: Step, end: ReadSummary): void {
  const rows = end.added + end.changed;
  observed.news ||= rows + end.removed > 0;
  observed.retired ||= end.resource === 'retirements' && rows > 0;
  onRead?.(end);
}
