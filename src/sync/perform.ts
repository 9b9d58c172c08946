import { RegistryError } from '../registry/errors.js';
import type { CausedRun } from './cause.js';
import { fetchCertificates } from './certificates.js';
import type { Context } from './context.js';
import { discover } from './schedule/discover.js';
import { look } from './look/look.js';
import { isJobKind, type JobKind, readWish } from './plan.js';
import { tick } from './schedule/tick.js';
import type { Perform, Run } from './worker/worker.js';

type Work = (context: Context, run: CausedRun) => Promise<string>;

const WORK: Readonly<Record<JobKind, Work>> = {
  installation: look,
  retry: look,
  holds: look,
  certificates: fetchCertificates,
  discover,
  tick,
};

export function createPerform(context: Context): Perform {
  return async run => {
    const { kind } = run.job;
    if (isJobKind(kind)) return WORK[kind](context, await withCause(context, run));
    throw new RegistryError('bad_request', `a job of the kind ${kind} is unknown to this version`);
  };
}

async function withCause({ inbox }: Context, run: Run): Promise<CausedRun> {
  const { job } = run;
  const deliveryId = await inbox.newestDelivery(job);
  return { ...run, cause: { jobId: job.id, deliveryId }, wish: readWish(job.payload) };
}
