import type { NewJob } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import type { Call } from './inbox-functions.js';

/** Ids by the place of the wish. */
type Ids = Readonly<Record<string, number>>;

export function createEnqueue(call: Call): Pick<InboxPort, 'enqueue' | 'enqueueOnce'> {
  return {
    enqueue: async jobs => {
      const ids = await call<Ids>('enqueue', { once: false }, jobs.map(wishOf));
      return jobs.map(({ dedupeKey }, place) => demanded(ids[place], dedupeKey));
    },
    enqueueOnce: async job => {
      const ids = await call<Ids>('enqueue', { once: true }, [wishOf(job)]);
      return ids[0] ?? null;
    },
  };
}

function demanded(id: number | undefined, key: string): number {
  if (id === undefined) throw new Error(`expected a job for ${key}, got none`);
  return id;
}

function wishOf(job: NewJob): Readonly<Record<string, unknown>> {
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
