/** Reads what the evaluation of events compares: stale and fresh lists, and jobs that have failed. */
import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';

/** Reads the stale lists with their reasons, and the fresh lists. Lists in other states are left out. */
export async function readStaleAndFreshLists({ all }: Reader) {
  const rows = await all(
    queryBuilder
      .selectFrom('mirror.freshness')
      .select(['organization_id', 'resource', 'state', 'reason'])
      .where('state', 'in', ['stale', 'fresh'])
      .where('organization_id', 'is not', null)
      .$narrowType<{ organization_id: string }>()
      .orderBy('organization_id')
      .orderBy('resource'),
  );
  const stale = rows.filter(({ state }) => state === 'stale');
  const fresh = rows.filter(({ state }) => state === 'fresh');
  return {
    stale: stale.map(({ organization_id, resource, reason }) => ({
      organization_id,
      resource,
      reason: reason ?? '',
    })),
    fresh: fresh.map(({ organization_id, resource }) => ({ organization_id, resource })),
  };
}

/** Reads the jobs that failed at or after an instant and are not retried. The oldest come first. */
export async function readFailedJobs({ all }: Reader, since: string) {
  return await all(
    queryBuilder
      .selectFrom('inbox.jobs')
      .select(['id', 'organization_id', 'error_or_pause_code as code', 'finished_at'])
      .where('state', '=', 'failed')
      .where('finished_at', '>=', since)
      .orderBy('finished_at')
      .orderBy('id')
      .$narrowType<{ finished_at: string }>(),
  );
}
