import type { NewJob } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import type { RunQuery } from '../open-postgres.js';
import type { InboxClock } from '../pool-settings.js';
import { createEnqueueCall } from './inbox-functions.js';

/**
 * Creates the methods of `InboxPort` that request jobs. The times of the jobs come from `clock`, or from the clock of the database if
 * `clock` is null.
 */
export function createEnqueue(
  query: RunQuery,
  clock: InboxClock,
): Pick<InboxPort, 'enqueue' | 'enqueueOnce'> {
  const enqueue = createEnqueueCall(query, clock);
  return {
    enqueue: async jobs => {
      const ids = await enqueue({ once: false }, jobs.map(toJobRequest));
      return jobs.map(({ dedupeKey }, index) => requireJobId(ids[index], dedupeKey));
    },
    enqueueOnce: async job => {
      const ids = await enqueue({ once: true }, [toJobRequest(job)]);
      return ids[0] ?? null;
    },
  };
}

/** Returns the id of the job that the database created or found for a request. Throws if it returned no id. */
function requireJobId(id: number | undefined, dedupeKey: string): number {
  if (id === undefined) throw new Error(`expected a job for ${dedupeKey}, got none`);
  return id;
}

/** Converts a requested job to the input row of the SQL function `inbox.enqueue`. */
function toJobRequest(job: NewJob): Readonly<Record<string, unknown>> {
  return {
    kind: job.kind,
    dedupe_key: job.dedupeKey,
    trigger: job.trigger,
    part: job.part ?? 'data',
    installation_id: job.installationId ?? null,
    organization_id: job.organizationId ?? null,
    payload: job.payload === undefined ? null : JSON.stringify(job.payload),
    only_duplicates_asked: job.onlyDuplicates ?? false,
    start_in_ms: job.startDelayMs ?? null,
  };
}
