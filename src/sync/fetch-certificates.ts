import { PARTIAL_READ_PREFIX, UNCHANGED_OUTCOME } from '../inbox/job.js';
import type { CertificateSession } from '../mirror/mirror.js';
import { RegistryError } from '../registry/errors.js';
import type { OrganizationClient } from '../registry/client-types.js';
import type { ReadOptions } from '../registry/read-types.js';
import { resolveInstallationRun } from './installation/read-context.js';
import type { SyncContext } from './sync-context.js';
import { describeFailure, endsBatch, MAX_CONSECUTIVE_FAILURES } from './outcome.js';
import { createCallCounter } from './read/call-counter.js';
import { forEachConcurrently } from './read/concurrency.js';
import type { RunningJob } from './worker/execute-job.js';

/** Concurrent downloads of one job. They share the rate limit with all other requests. */
const CONCURRENCY = 8;
const BATCH_SIZE = 64;

/** Downloads the due certificates of one organization and stores each one. Returns the outcome of the job. */
export async function fetchCertificates(context: SyncContext, running: RunningJob): Promise<string> {
  const { mirror, client, now } = context;
  const { installationId, cause } = await resolveInstallationRun(context, running);
  const [known] = await mirror.listInstallations(installationId);
  if (known?.state !== 'active' || known.organizationId === null) return known?.state ?? 'unknown';
  const { organizationId } = known;
  const { claim, trigger } = running.job;
  await mirror.raiseFence({ organizationId, part: 'certificates', claim });
  await context.certificates.makeNewDue();
  const session = await context.certificates.beginSession({
    organizationId,
    claim,
    trigger,
    cause,
    startedAt: now(),
  });
  const calls = createCallCounter(running.signal, now);
  const fetchCertificate = createCertificateFetcher({
    session,
    organization: client.organization(installationId, organizationId),
    requestOptions: calls.requestOptions,
    now,
  });
  try {
    let requestedCount = 0;
    for (
      let due = await session.listDue(BATCH_SIZE);
      due.length > 0;
      due = await session.listDue(BATCH_SIZE)
    ) {
      await running.yieldTurn();
      requestedCount += due.length;
      const retirementIds = due.map(({ retirementId }) => retirementId);
      await forEachConcurrently(CONCURRENCY, retirementIds, fetchCertificate);
    }
    const state = await session.finish(calls.getTraffic());
    const isUnchanged = trigger === 'schedule' && requestedCount === 0;
    if (state === 'complete') return isUnchanged ? UNCHANGED_OUTCOME : 'fetched';
    return `${PARTIAL_READ_PREFIX}: some certificates could not be fetched`;
  } catch (error) {
    const { code, message } = describeFailure(running.signal.aborted ? running.signal.reason : error);
    await session.abandon({ code, message }, calls.getTraffic());
    if (code === 'forbidden') return 'refused';
    throw error;
  }
}

/** The dependencies of a certificate fetcher. */
interface CertificateFetcherOptions {
  readonly session: CertificateSession;
  readonly organization: OrganizationClient;
  readonly requestOptions: ReadOptions;
  readonly now: () => number;
}

/**
 * Creates a function that downloads and stores one certificate, or records why that failed. The function throws only an
 * error that must stop the remaining downloads.
 */
function createCertificateFetcher({ session, organization, requestOptions, now }: CertificateFetcherOptions) {
  let consecutiveFailures = 0;

  /** Records why a certificate could not be downloaded. Rethrows an error that must stop the remaining downloads. */
  async function recordDownloadError(
    retirementId: string,
    error: unknown,
    requestedAt: number,
  ): Promise<void> {
    if (error instanceof RegistryError && error.code === 'not_found') {
      await session.markUnavailable(retirementId, requestedAt);
      consecutiveFailures = 0;
      return;
    }
    const failure = describeFailure(error);
    if (requestOptions.signal?.aborted === true || endsBatch(error)) throw error;
    await session.markFailed(retirementId, failure, requestedAt);
    consecutiveFailures += 1;
    if (consecutiveFailures >= MAX_CONSECUTIVE_FAILURES) throw error;
  }

  return async (retirementId: string): Promise<void> => {
    const requestedAt = now();
    try {
      const download = await organization.downloadCertificate(retirementId, requestOptions);
      await session.store(retirementId, download.body, requestedAt);
      consecutiveFailures = 0;
    } catch (error) {
      await recordDownloadError(retirementId, error, requestedAt);
    }
  };
}
