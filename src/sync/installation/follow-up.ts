import { PARTIAL_READ_PREFIX, type JobKind, type NewJob } from '../../inbox/job.js';
import { RegistryError } from '../../registry/errors.js';
import type { ReadContext } from './read-context.js';
import { decideOutcome, describeFailure } from '../outcome.js';
import { RESOURCES, type SyncedResource, serializeScope } from '../plan.js';

/** The longest delay of a read of reservations. The end that the registry gives may be thousands of years away. */
const MAX_START_DELAY_MS = 86_400_000;

/** Enqueues the jobs that follow a read, such as a retry. Returns the outcome of the read. */
export async function enqueueFollowUpJobs(context: ReadContext): Promise<string> {
  await enqueueReservationsRead(context);
  await enqueueCertificates(context);
  return context.observations.failures.size === 0 ? 'read' : enqueueRetry(context);
}

/** Enqueues a job that reads the warehouse and the reservations when the next outstanding reservation ends, if there is one. */
async function enqueueReservationsRead(context: ReadContext): Promise<void> {
  const { inbox, client, now, installationId, observations } = context;
  if (observations.nextReservationEnd === null) return;
  const endsInMs = observations.nextReservationEnd - (client.http.clockSkewMs() ?? 0) - now();
  const startDelayMs = Math.min(endsInMs, MAX_START_DELAY_MS);
  const payload = serializeScope({ resources: ['warehouse', 'reservations'], full: false });
  await inbox.enqueue([
    createFollowUpJob(context, 'reservations', installationId, { payload, startDelayMs }),
  ]);
}

/**
 * Enqueues a job that downloads certificates, if some may be due. First marks certificates as due: after a full read, all certificates of
 * the organization; after any other read that a person requested, the certificates whose last request failed or was refused.
 */
async function enqueueCertificates(context: ReadContext): Promise<void> {
  const { inbox, certificates, organizationId, scope, job, observations } = context;
  const { trigger } = job;
  // A full read downloads all certificates again.
  if (scope.full) await certificates.makeAllDue(organizationId);
  else if (trigger === 'person') await certificates.makeFailedDue(organizationId);
  // Jobs of the schedule or a person also retry failed certificates.
  const isWanted =
    scope.full || observations.hasNewRetirements || trigger === 'schedule' || trigger === 'person';
  if (!isWanted && (await hasFetchedCertificates(context))) return;
  // A scheduled certificate job that finds nothing due leaves no rows.
  const fields = trigger === 'schedule' ? { trigger } : {};
  await inbox.enqueue([
    createFollowUpJob(context, 'certificates', organizationId, { part: 'certificates', ...fields }),
  ]);
}

/** Whether an earlier job has downloaded all due certificates of the organization. */
async function hasFetchedCertificates({ mirror, organizationId }: ReadContext): Promise<boolean> {
  const states = await mirror.readListStates(organizationId);
  return (states.get('certificates')?.dataAsOf ?? null) !== null;
}

/** Creates a job for the installation. While it waits, later jobs of the same kind and `subjectId` are merged into it. */
function createFollowUpJob(
  { installationId, organizationId }: ReadContext,
  kind: JobKind,
  subjectId: string,
  fields: Partial<NewJob>,
): NewJob {
  const dedupeKey = `${kind}:${subjectId}`;
  return { kind, dedupeKey, trigger: 'worker', installationId, organizationId, ...fields };
}

/**
 * Enqueues a job that reads the failed resources again, and returns the outcome of the current job. Throws instead if the
 * current job is a retry in which every resource failed.
 */
async function enqueueRetry(context: ReadContext): Promise<string> {
  const { inbox, now, random, job, scope, installationId } = context;
  const { failures } = context.observations;
  const requested = scope.resources ?? RESOURCES;
  const errors = [...failures.values()];
  // Throw, so that the attempts of the retry are counted and it fails in the end.
  if (job.kind === 'retry' && requested.every(resource => failures.has(resource))) throw errors[0];
  const outcomes = errors.map(error =>
    decideOutcome(describeFailure(error), { now: now(), attempts: 1, random }),
  );
  const runAt = Math.max(...outcomes.map(outcome => ('at' in outcome ? outcome.at : 0)));
  const payload = serializeScope({ resources: [...failures.keys()], full: false });
  const startDelayMs = Math.max(runAt - now(), 0);
  await inbox.enqueue([createFollowUpJob(context, 'retry', installationId, { payload, startDelayMs })]);
  return `${PARTIAL_READ_PREFIX}: ${describeFailures(failures)}`;
}

/** Formats failed resources by cause, such as `addresses, members failed (503)`. */
function describeFailures(failures: ReadonlyMap<SyncedResource, unknown>): string {
  const resourcesByCause = new Map<string, string[]>();
  for (const [resource, error] of failures) {
    const cause = describeCause(error);
    resourcesByCause.set(cause, [...(resourcesByCause.get(cause) ?? []), resource.replaceAll('_', ' ')]);
  }
  return Array.from(
    resourcesByCause,
    ([cause, resources]) => `${resources.join(', ')} failed (${cause})`,
  ).join('; ');
}

/** Returns the HTTP status of an error, such as `503`. Without a status, returns the failure code in words. */
function describeCause(error: unknown): string {
  const status = error instanceof RegistryError ? error.status : null;
  return status !== null && status >= 400 ? String(status) : describeFailure(error).code.replaceAll('_', ' ');
}
