import { IN_PART } from '../inbox/job.js';
import type { CertificateWalk } from '../mirror/mirror.js';
import { RegistryError } from '../registry/errors.js';
import type { OrganizationClient } from '../registry/clients.js';
import type { ReadOptions } from '../registry/read-types.js';
import { withCause } from './installation/step.js';
import type { Context } from './context.js';
import { describe, endsWalk, TROUBLES } from './outcome.js';
import { countCalls, inLanes } from './read/calls.js';
import type { JobAtWork } from './worker/worker.js';

/** Downloads at once; all of them share the budget of calls with everybody else. */
const AT_ONCE = 8;
const BATCH = 64;

/**
 * Walk one organization's certificates that are due, in a part of their own.
 * Each is written as it comes, so that a walk that was cut short goes on where it stopped.
 */
export async function fetchCertificates(context: Context, run: JobAtWork): Promise<string> {
  const { mirror, client, now } = context;
  const { installationId, cause } = await withCause(context, run);
  const [known] = await mirror.installations(installationId);
  if (known?.state !== 'active' || known.organizationId === null) return known?.state ?? 'unknown';
  const { organizationId } = known;
  const { claim, trigger } = run.job;
  await mirror.raiseFence({ organizationId, part: 'certificates', claim });
  await context.certificates.enter();
  const walk = await context.certificates.begin({ organizationId, claim, trigger, cause, startedAt: now() });
  const { options, traffic } = countCalls(run.signal, now);
  const fetcher = createFetcher({
    walk,
    organization: client.organization(installationId, organizationId),
    options,
    now,
  });
  try {
    for (let due = await walk.due(BATCH); due.length > 0; due = await walk.due(BATCH)) {
      await run.turn();
      await fetcher.fetchAll(due.map(certificate => certificate.retirementId));
    }
    const state = await walk.finish(traffic());
    return state === 'complete' ? 'fetched' : `${IN_PART}: not every certificate came`;
  } catch (error) {
    const { code, message } = describe(run.signal.aborted ? run.signal.reason : error);
    await walk.abandon({ code, message }, traffic());
    if (code === 'forbidden') return 'refused';
    throw error;
  }
}

interface FetcherOptions {
  readonly walk: CertificateWalk;
  readonly organization: OrganizationClient;
  readonly options: ReadOptions;
  readonly now: () => number;
}

function createFetcher({ walk, organization, options, now }: FetcherOptions) {
  let troubles = 0;

  async function fetchOne(retirementId: string): Promise<void> {
    const askedAt = now();
    try {
      const download = await organization.downloadCertificate(retirementId, options);
      await walk.store(retirementId, download.body, askedAt);
      troubles = 0;
    } catch (error) {
      await note(retirementId, error, askedAt);
    }
  }

  async function note(retirementId: string, error: unknown, askedAt: number): Promise<void> {
    if (error instanceof RegistryError && error.code === 'not_found') {
      await walk.unavailable(retirementId, askedAt);
      troubles = 0;
      return;
    }
    const failure = describe(error);
    if (options.signal?.aborted === true || endsWalk(error)) throw error;
    await walk.fail(retirementId, failure, askedAt);
    troubles += 1;
    if (troubles >= TROUBLES) throw error;
  }

  return {
    fetchAll: (ids: readonly string[]) => inLanes(AT_ONCE, ids, fetchOne),
  };
}
