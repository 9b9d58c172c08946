import type { NewJob } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import type { RunQuery } from '../open-postgres.js';
import type { InboxClock } from '../pool-settings.js';
import { createEnqueueCall } from './inbox-functions.js';

export function createEnqueue(
  query: RunQuery,
  clock: InboxClock,
): Pick<InboxPort, 'enqueue' | 'enqueueOnce'> {
  const enqueue = createEnqueueCall(query, clock);
  return {
    enqueue: async jobs => {
      const ids = await enqueue({ once: false }, jobs.map(toRequest));
      return jobs.map(({ dedupeKey }, index) => expectId(ids[index], dedupeKey));
    },
    enqueueOnce: async job => {
      const ids = await enqueue({ once: true }, [toRequest(job)]);
      return ids[0] ?? null;
    },
  };
}

function expectId(id: number | undefined, key: string): number {
  if (id === undefined) throw new Error(`expected a job for ${key}, got none`);
  return id;
}

/** Returns the request for a job with the names that the function expects. */
function toRequest(job: NewJob): Readonly<Record<string, unknown>> {
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
