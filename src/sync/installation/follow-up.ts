import { IN_PART, type NewJob } from '../../inbox/job.js';
import { RegistryError } from '../../registry/errors.js';
import type { CausedJob } from '../cause.js';
import type { Context } from '../context.js';
import type { Observed } from './observed.js';
import type { Opened } from './access.js';
import { decide, describe } from '../outcome.js';
import { RESOURCES, type Resource, writeWish } from '../plan.js';

/** What one look leads to: a read of the reservations when they end, certificates to fetch, failed resources to read again. */
export async function followUp(
  context: Context,
  atWork: CausedJob,
  opened: Opened,
  observed: Observed,
): Promise<string> {
  const { inbox, client, certificates, now } = context;
  const { organizationId, installation } = opened;
  if (observed.reservationEnd !== null) {
    const startInMs = observed.reservationEnd - (client.http.clockSkewMs() ?? 0) - now();
    await inbox.enqueue([holdsJob(installation.id, organizationId, startInMs)]);
  }
  if (atWork.wish.full) {
    observed.retired = true;
    await certificates.makeAllDue(organizationId);
  }
  if (observed.retired || wantsCertificates(atWork.job.trigger) || (await isNew(context, organizationId))) {
    await inbox.enqueue([certificatesJob(installation.id, organizationId)]);
  }
  return observed.failures.size === 0 ? 'read' : readAgain(context, atWork, opened, observed.failures);
}

/** The schedule and people look after what is due by now; a delivery only after what it may have brought. */
function wantsCertificates(trigger: string): boolean {
  return trigger === 'schedule' || trigger === 'person';
}

/** Where nothing is due a walk costs no call, and says that all certificates are there. */
async function isNew({ mirror }: Context, organizationId: string): Promise<boolean> {
  const last = await mirror.states(organizationId);
  return (last.get('certificates')?.dataAsOf ?? null) === null;
}

function certificatesJob(installationId: string, organizationId: string): NewJob {
  return {
    kind: 'certificates',
    dedupeKey: `certificates:${organizationId}`,
    trigger: 'worker',
    part: 'certificates',
    installationId,
    organizationId,
  };
}

/** Throws where a second try brought nothing, so that its attempts are counted and it fails in the end. */
async function readAgain(
  { inbox, now, random }: Context,
  { job, wish }: CausedJob,
  { organizationId, installation }: Opened,
  failures: ReadonlyMap<Resource, unknown>,
): Promise<string> {
  const asked = wish.resources ?? RESOURCES;
  const errors = [...failures.values()];
  if (job.kind === 'retry' && asked.every(resource => failures.has(resource))) throw errors[0];
  const outcomes = errors.map(error => decide(describe(error), { now: now(), attempts: 1, random }));
  const runAt = Math.max(...outcomes.map(outcome => ('at' in outcome ? outcome.at : 0)));
  await inbox.enqueue([
    {
      kind: 'retry',
      dedupeKey: `retry:${installation.id}`,
      trigger: 'worker',
      installationId: installation.id,
      organizationId,
      payload: writeWish({ resources: [...failures.keys()], full: false }),
      startInMs: Math.max(runAt - now(), 0),
    },
  ]);
  return `${IN_PART}: ${describeFailures(failures)}`;
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
  return status !== null && status >= 400 ? String(status) : describe(error).code.replaceAll('_', ' ');
}

function holdsJob(installationId: string, organizationId: string, startInMs: number): NewJob {
  return {
    kind: 'reservations',
    dedupeKey: `reservations:${installationId}`,
    trigger: 'worker',
    installationId,
    organizationId,
    payload: writeWish({ resources: ['warehouse', 'reservations'], full: false }),
    startInMs,
  };
}
