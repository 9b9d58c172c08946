import type { EventsPort } from '../../events/port.js';
import { readFailedJobs, readStaleAndFreshLists } from '../../query/evaluation.js';
import type { Reader } from '../../store/contract/reader.js';

/** How often freshness and failed jobs are evaluated. Workers share the work. */
const INTERVAL_MS = 15_000;
/** A job that fails is committed a little after the instant that it records. It is looked for again until then. */
const OVERLAP_MS = 10 * 60_000;

interface EvaluationInput {
  readonly port: EventsPort;
  readonly reader: Reader;
  readonly now: number;
}

/**
 * Records an event for each list that became stale or fresh, and each job that failed, since the last evaluation. Returns the
 * number of recorded events. Does nothing and returns 0 if the last evaluation was recent, or if no epoch (the first part of event
 * ids) has begun yet.
 */
export async function evaluate({ port, reader, now }: EvaluationInput): Promise<number> {
  const epoch = await port.readEpoch();
  const dueBefore = new Date(now - INTERVAL_MS).toISOString();
  if (epoch === null || (epoch.evaluated_at !== null && epoch.evaluated_at > dueBefore)) return 0;
  const { stale, fresh } = await readStaleAndFreshLists(reader);
  const since = Date.parse(epoch.evaluated_at ?? epoch.began_at) - OVERLAP_MS;
  const failed = await readFailedJobs(reader, new Date(since).toISOString());
  const recorded = await port.evaluate({
    at: new Date(now).toISOString(),
    dueBefore,
    staleLists: stale,
    freshLists: fresh,
    failedJobs: failed.map(job => ({
      type: 'job.failed',
      organization_id: job.organization_id ?? '',
      subject: String(job.id),
      detail: job.code ?? '',
      occurred_at: job.finished_at,
    })),
  });
  return recorded ?? 0;
}
