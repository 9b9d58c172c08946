import { RegistryError } from '../../registry/errors.js';
import type { Run } from '../worker/worker.js';

export function installationOf({ job }: Run): string {
  if (job.installationId !== null) return job.installationId;
  throw new RegistryError('bad_request', `a job of the kind ${job.kind} must name its installation`);
}
