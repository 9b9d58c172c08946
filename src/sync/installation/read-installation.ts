/**
 * Reads one installation: checks what it permits, plans which resources to read, reads each, and enqueues follow-up jobs.
 * A resource that fails does not stop the others; only the failed resources are retried. Deliveries that arrive during
 * a long job have the warehouse and reservations read at once (urgent-reads.ts).
 * A refusal must never be believed before it was repeated with a new token and fresh permissions.
 */
import type { DeliveryQuery } from '../../inbox/delivery.js';
import { type ClaimedJob, UNCHANGED_OUTCOME } from '../../inbox/job.js';
import type { LastRead } from '../../mirror/port/read.js';
import type { SyncContext } from '../sync-context.js';
import { endsJob, SyncError, toFailureCode } from '../outcome.js';
import { isPermitted, planReads, type ReadPlan, type SyncedResource } from '../plan.js';
import { readList } from '../read/read-list.js';
import { readProjects } from '../read/read-projects.js';
import type { RunningJob } from '../worker/execute-job.js';
import { type ActiveInstallation, type AccessChecker, createAccessChecker } from './access.js';
import { enqueueFollowUpJobs } from './follow-up.js';
import {
  createObservations,
  type InstallationRun,
  type ReadContext,
  resolveInstallationRun,
} from './read-context.js';
import { createUrgentReads } from './urgent-reads.js';

/** Reads the due resources of one installation and enqueues follow-up jobs. Returns the outcome of the job, such as `read`. */
export async function readInstallation(context: SyncContext, running: RunningJob): Promise<string> {
  const run = await resolveInstallationRun(context, running);
  const accessChecker = createAccessChecker(context, run);
  try {
    const active = await accessChecker.checkAtStart();
    if (active === null) return toJobOutcome(accessChecker.getState(), run.job, accessChecker.hasChanged());
    const readContext = createReadContext(context, run, active);
    await readResources(readContext, accessChecker, active);
    await markNotOffered(readContext);
    const outcome = await enqueueFollowUpJobs(readContext);
    const { hasChanges, failures } = readContext.observations;
    return toJobOutcome(outcome, run.job, accessChecker.hasChanged() || hasChanges || failures.size > 0);
  } catch (error) {
    if (error instanceof SyncError && error.code === 'access_gone') return accessChecker.getState();
    throw error;
  }
}

/**
 * Returns `unchanged` if a routine job found no changes, otherwise `outcome`. A job is routine if the schedule started it, or if
 * only duplicate webhooks requested it.
 */
function toJobOutcome(outcome: string, job: ClaimedJob, foundChanges: boolean): string {
  const isRoutine = job.onlyDuplicates || job.trigger === 'schedule';
  return isRoutine && !foundChanges ? UNCHANGED_OUTCOME : outcome;
}

/**
 * Creates the context that all reads of this job share: the organization, the facts that the reads have found so far
 * (observations), and the claim without which the mirror refuses writes.
 */
function createReadContext(
  context: SyncContext,
  run: InstallationRun,
  { organizationId }: ActiveInstallation,
): ReadContext {
  const { part, claim } = run.job;
  return {
    ...context,
    ...run,
    organizationId,
    writeClaim: { organizationId, part, claim },
    organization: context.client.organization(run.installationId, organizationId),
    observations: createObservations(),
  };
}

/** Reads the planned resources. A scheduled job that finds a change also reads all other resources. */
async function readResources(
  context: ReadContext,
  accessChecker: AccessChecker,
  active: ActiveInstallation,
): Promise<void> {
  const { mirror, now, job, writeClaim, observations } = context;
  const { planJob, listReadable } = createPlanner(context, active);
  const { read: planned, unpermitted } = await planJob();
  if (unpermitted.length > 0) await mirror.markAccess('no_permission', writeClaim, unpermitted, now());
  const urgentReads = createUrgentReads(context, {
    accessChecker,
    listReadable,
    readResource: resource => readResource(context, resource),
  });
  const queue = [...planned];
  for (const resource of queue) {
    await urgentReads.yieldTurn();
    const yieldTurn = () => urgentReads.yieldTurn(resource);
    await readOrRecordFailure({ ...context, yieldTurn }, resource, accessChecker);
    const isLastPlanned = resource === planned.at(-1);
    // Other resources may have changed without a delivery too, even those that are rarely read.
    if (isLastPlanned && observations.hasChanges && job.trigger === 'schedule') {
      const readable = await listReadable();
      queue.push(...readable.filter(other => !planned.includes(other)));
    }
  }
}

/** Creates the planner that decides which resources this job reads. */
function createPlanner(context: ReadContext, { installation, permissionsChanged }: ActiveInstallation) {
  const { mirror, now, organizationId, mirrorMembers, scope, job } = context;
  const { permissions } = installation;
  const input = { organizationId, permissions, permissionsChanged, mirrorMembers };

  /** Loads when each resource was last read, and the resources for which a webhook has arrived since. */
  async function loadHistory() {
    const previousReads = await mirror.readListStates(organizationId);
    return {
      previousReads,
      reaccepted: await findResourcesWithDelivery(context, previousReads, toReacceptedQuery),
      announced: await findResourcesWithDelivery(context, previousReads, toRarelyReadQuery),
      now: now(),
    };
  }

  /** Plans which resources this job reads. */
  async function planJob(): Promise<ReadPlan> {
    return planReads({ ...input, scope, trigger: job.trigger, ...(await loadHistory()) });
  }

  /**
   * Lists the resources that may be requested now: the permissions allow them, and the registry has not recently refused to return
   * them.
   */
  async function listReadable(): Promise<readonly SyncedResource[]> {
    const everything = { resources: null, full: false };
    const plan = planReads({ ...input, scope: everything, trigger: 'delivery', ...(await loadHistory()) });
    return plan.read;
  }

  return { planJob, listReadable };
}

/** Returns the query for deliveries that make a resource due, given its last read. Returns null if no delivery does. */
type ToDeliveryQuery = (lastRead: LastRead) => DeliveryQuery | null;

/** Looks for new permissions that were accepted since the last request of a resource that the registry refused to return. */
const toReacceptedQuery: ToDeliveryQuery = ({ declined, attemptedAt }) =>
  declined === null ? null : { since: attemptedAt ?? 0, event: 'newPermissionsAccepted' };

/**
 * Looks for any delivery since the last complete read of a rarely read resource began. If a wrong clock dated a
 * delivery after that read, the delivery is found again.
 */
const toRarelyReadQuery: ToDeliveryQuery = ({ everyMs, dataAsOf }) =>
  everyMs === null ? null : { since: dataAsOf ?? 0 };

/**
 * Returns the resources for which a webhook has arrived since their last read. `toQuery` returns which webhooks count for a
 * resource, or null if none can count. A resource for which `toQuery` returns null is not returned.
 */
async function findResourcesWithDelivery(
  { inbox, installationId }: ReadContext,
  lastReads: ReadonlyMap<string, LastRead>,
  toQuery: ToDeliveryQuery,
): Promise<ReadonlySet<string>> {
  const resources: string[] = [];
  const queries: DeliveryQuery[] = [];
  for (const [resource, lastRead] of lastReads) {
    const query = toQuery(lastRead);
    if (query === null) continue;
    resources.push(resource);
    queries.push(query);
  }
  if (queries.length === 0) return new Set();
  const arrived = await inbox.haveDeliveriesArrived(installationId, queries);
  return new Set(resources.filter((_resource, index) => arrived[index] === true));
}

/**
 * Marks the resources for which the registry answered 404 as not offered by the registry. If the registry returned no list at all,
 * records these resources as failed instead, unless an earlier job had marked them.
 */
async function markNotOffered({ mirror, now, writeClaim, observations }: ReadContext): Promise<void> {
  const { notFound, hasAnsweredList, failures } = observations;
  if (notFound.size === 0) return;
  const lastReads = await mirror.readListStates(writeClaim.organizationId);
  for (const [resource, error] of notFound) {
    const isKnown = lastReads.get(resource)?.declined === 'not_offered';
    // If the registry answered for no list at all, the 404 does not mean that this resource is not offered.
    if (hasAnsweredList || isKnown) await mirror.markAccess('not_offered', writeClaim, [resource], now());
    else failures.set(resource, error);
  }
}

/** Reads a list or the projects of an organization, and writes the changes to the mirror. */
function readResource(context: ReadContext, resource: SyncedResource): Promise<void> {
  return resource === 'projects' ? readProjects(context) : readList(context, resource);
}

/** Reads a resource and records its failure. After a 403 error, retries once. Throws only errors that end the whole job. */
async function readOrRecordFailure(
  context: ReadContext,
  resource: SyncedResource,
  accessChecker: AccessChecker,
): Promise<void> {
  const { mirror, writeClaim, now, observations } = context;
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    try {
      await readResource(context, resource);
      observations.hasAnsweredList ||= resource !== 'projects';
      return;
    } catch (error) {
      context.signal.throwIfAborted();
      if (endsJob(error)) throw error;
      if (toFailureCode(error) !== 'forbidden') return recordFailure(context, resource, error);
    }
    const { installation } = await accessChecker.recheck();
    if (!isPermitted(installation.permissions, resource))
      return mirror.markAccess('no_permission', writeClaim, [resource], now());
  }
  return mirror.markAccess('refused', writeClaim, [resource], now());
}

/** Records that a resource could not be read: as not offered, not found or failed. */
async function recordFailure(
  { mirror, writeClaim, now, observations }: ReadContext,
  resource: SyncedResource,
  error: unknown,
): Promise<void> {
  const code = toFailureCode(error);
  const previous = observations.previousReads.get(resource);
  // A resource whose answers never had the expected format is not offered. A new format is a failure.
  if (code === 'other_form' && !hadExpectedFormat(previous))
    await mirror.markAccess('not_offered', writeClaim, [resource], now());
  else if (code === 'not_found') observations.notFound.set(resource, error);
  else observations.failures.set(resource, error);
}

/** Whether the resource was read completely before and its last answer had the expected format. */
function hadExpectedFormat(previous: LastRead | undefined): boolean {
  return previous !== undefined && previous.dataAsOf !== null && !previous.hadUnexpectedFormat;
}
