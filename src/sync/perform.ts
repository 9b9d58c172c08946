import { RegistryError } from '../registry/errors.js';
import type { CausedJob } from './cause.js';
import { fetchCertificates } from './certificates.js';
import type { Context } from './context.js';
import { discover } from './schedule/discover.js';
import { readInstallation } from './installation/read-installation.js';
import { isJobKind, type JobKind, readWish } from './plan.js';
import { tick } from './schedule/tick.js';
import type { Perform, JobAtWork } from './worker/worker.js';

type Work = (context: Context, atWork: CausedJob) => Promise<string>;

const WORK: Readonly<Record<JobKind, Work>> = {
  installation: readInstallation,
  retry: readInstallation,
  reservations: readInstallation,
  certificates: fetchCertificates,
  discover,
  tick,
};

export function createPerform(context: Context): Perform {
  return async atWork => {
    const { kind } = atWork.job;
    if (isJobKind(kind)) return WORK[kind](context, await withCause(context, atWork));
    throw new RegistryError('bad_request', `a job of the kind ${kind} is unknown to this version`);
  };
}

async function withCause({ inbox }: Context, atWork: JobAtWork): Promise<CausedJob> {
  const { job } = atWork;
  const newestDeliveryId = await inbox.newestDelivery(job);
  return { ...atWork, cause: { jobId: job.id, newestDeliveryId }, wish: readWish(job.payload) };
}
