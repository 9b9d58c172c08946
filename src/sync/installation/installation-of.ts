import { RegistryError } from '../../registry/errors.js';
import type { JobAtWork } from '../worker/worker.js';

export function installationOf({ job }: JobAtWork): string {
  if (job.installationId !== null) return job.installationId;
  throw new RegistryError('bad_request', `a job of the kind ${job.kind} must name its installation`);
}
