import type { JobCounts } from '../../../inbox/job.js';
import type { Sqlite } from '../open.js';

export function createCountJobs(db: Sqlite): () => JobCounts {
  const counts = db.prepare<[], JobCounts>(`SELECT
    (SELECT count(*) FROM jobs WHERE state = 'ready') AS ready,
    (SELECT count(*) FROM jobs WHERE state = 'claimed') AS claimed,
    (SELECT count(*) FROM jobs WHERE state = 'parked') AS parked,
    (SELECT count(*) FROM jobs WHERE state = 'buried') AS buried,
    (SELECT min(run_at) FROM jobs WHERE state = 'ready') AS oldestRunAt`);
  return () => counts.get() ?? { ready: 0, claimed: 0, parked: 0, buried: 0, oldestRunAt: null };
}
