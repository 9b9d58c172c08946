import { PARTIAL_READ, type JobKind, type NewJob } from '../../inbox/job.js';
import { RegistryError } from '../../registry/errors.js';
import type { Step } from './step.js';
import { decide, describeFailure } from '../outcome.js';
import { RESOURCES, type Resource, serializeScope } from '../plan.js';

/** An end that is further away is looked at again by then: its year may have five digits. */
const FURTHEST_MS = 86_400_000;

/** What one look leads to: a read of the reservations when they end, certificates to fetch, failed resources to read again. */
export async function followUp(step: Step): Promise<string> {
  const { inbox, client, certificates, now, organizationId, installationId, observed } = step;
  if (observed.reservationEnd !== null) {
    const endsInMs = observed.reservationEnd - (client.http.clockSkewMs() ?? 0) - now();
    const startDelayMs = Math.min(endsInMs, FURTHEST_MS);
    const payload = serializeScope({ resources: ['warehouse', 'reservations'], full: false });
    await inbox.enqueue([jobOf(step, 'reservations', installationId, { payload, startDelayMs })]);
  }
  if (step.wish.full) {
    observed.retired = true;
    await certificates.makeAllDue(organizationId);
  } else if (step.job.trigger === 'person') await certificates.makeFailedDue(organizationId);
  if (observed.retired || wantsCertificates(step.job.trigger) || (await isNew(step))) {
    await inbox.enqueue([jobOf(step, 'certificates', organizationId, { part: 'certificates' })]);
  }
  return observed.failures.size === 0 ? 'read' : readAgain(step);
}

/** The schedule and people look after what is due by now; a delivery only after what it may have brought. */
function wantsCertificates(trigger: string): boolean {
  return trigger === 'schedule' || trigger === 'person';
}

/** Where nothing is due a walk costs no call, and says that all certificates are there. */
async function isNew({ mirror, organizationId }: Step): Promise<boolean> {
  const last = await mirror.readListStates(organizationId);
  return (last.get('certificates')?.dataAsOf ?? null) === null;
}

function jobOf(
  { installationId, organizationId }: Step,
  kind: JobKind,
  whose: string,
  rest: Partial<NewJob>,
): NewJob {
  const dedupeKey = `${kind}:${whose}`;
  return { kind, dedupeKey, trigger: 'worker', installationId, organizationId, ...rest };
}

/** Throws where a second try brought nothing, so that its attempts are counted and it fails in the end. */
async function readAgain(step: Step): Promise<string> {
  const { inbox, now, random, job, wish, installationId } = step;
  const { failures } = step.observed;
  const asked = wish.resources ?? RESOURCES;
  const errors = [...failures.values()];
  if (job.kind === 'retry' && asked.every(resource => failures.has(resource))) throw errors[0];
  const outcomes = errors.map(error => decide(describeFailure(error), { now: now(), attempts: 1, random }));
  const runAt = Math.max(...outcomes.map(outcome => ('at' in outcome ? outcome.at : 0)));
  const payload = serializeScope({ resources: [...failures.keys()], full: false });
  const startDelayMs = Math.max(runAt - now(), 0);
  await inbox.enqueue([jobOf(step, 'retry', installationId, { payload, startDelayMs })]);
  return `${PARTIAL_READ}: ${describeFailures(failures)}`;
}

/** Those that failed alike together. */
function describeFailures(failures: ReadonlyMap<Resource, unknown>): string {
  const failed = Array.from(failures, ([resource, error]) => ({ resource, cause: causeOf(error) }));
  const causes = [...new Set(failed.map(({ cause }) => cause))];
  const namesOf = (cause: string) =>
    failed.flatMap(each => (each.cause === cause ? [each.resource.replaceAll('_', ' ')] : [])).join(', ');
  return causes.map(cause => `${namesOf(cause)} failed (${cause})`).join('; ');
}

function causeOf(error: unknown): string {
  const status = error instanceof RegistryError ? error.status : null;
  return status !== null && status >= 400 ? String(status) : describeFailure(error).code.replaceAll('_', ' ');
}
