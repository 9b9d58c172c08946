import { INSTALLATION_JOB, type JobCounts, type Named, type Pruned } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import type { Query } from '../open.js';
import { AT, type Perform } from './perform.js';

type Keeping = Pick<InboxPort, 'countJobs' | 'toLookAt' | 'prune' | 'signedTexts' | 'emptyTexts'>;

const BATCH = 500;
const BEFORE = `${AT} - ($1 ->> 'days')::double precision * interval '1 day'`;

const COUNT = `
  SELECT count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'running') AS running,
    count(*) FILTER (WHERE state = 'paused') AS paused, count(*) FILTER (WHERE state = 'failed') AS failed,
    min(run_at) FILTER (WHERE state = 'waiting') AS "oldestRunAt"
  FROM (${openJobs('state, run_at')}) AS jobs`;

/** One that had failed before a sync that came to its end is answered. */
const TO_LOOK_AT = `
  SELECT installation_id AS id, max(organization_id) AS "organizationId"
  FROM (${openJobs('kind, state, installation_id, organization_id, started_at')}) AS j
  WHERE kind = '${INSTALLATION_JOB}' AND installation_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM inbox.jobs AS d
    WHERE j.state = 'failed' AND d.installation_id = j.installation_id AND d.kind = j.kind
      AND d.state = 'done' AND d.started_at > j.started_at)
  GROUP BY installation_id ORDER BY installation_id`;

/** A signed text goes with its last delivery. Failed, waiting and running jobs stay. */
const PRUNE = `
  WITH old AS MATERIALIZED (
    SELECT id, stored_text_id FROM inbox.deliveries WHERE received_at < ${BEFORE}
    ORDER BY received_at, id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
  ),
  texts AS (
    DELETE FROM inbox.signed_texts WHERE last_received_at < ${BEFORE} AND id IN (SELECT stored_text_id FROM old) RETURNING id
  ),
  gone AS (DELETE FROM inbox.deliveries WHERE id IN (SELECT id FROM old) RETURNING id),
  done AS (
    DELETE FROM inbox.jobs WHERE id IN (
      SELECT id FROM inbox.jobs WHERE state = 'done' AND finished_at < ${BEFORE}
      ORDER BY finished_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
    RETURNING id
  )
  SELECT jsonb_build_object('signedTexts', (SELECT count(*) FROM texts), 'deliveries', (SELECT count(*) FROM gone),
    'jobs', (SELECT count(*) FROM done))`;

const EMPTY = `
  WITH emptied AS (UPDATE inbox.signed_texts SET signed_data = '' WHERE id = ANY ($1::bigint[]))
  SELECT count(*) AS count FROM inbox.deliveries WHERE stored_text_id = ANY ($1::bigint[])`;

export function createKeeping(query: Query, { perform }: Perform): Keeping {
  return {
    countJobs: async () => {
      const [counts] = await query<JobCounts>(COUNT);
      if (counts === undefined) throw new Error('expected counts of jobs, got none');
      return counts;
    },
    toLookAt: () => query<Named>(TO_LOOK_AT),
    prune: async days => {
      if (days === 0) return null;
      const { signedTexts, deliveries, jobs } = await perform<Pruned>([PRUNE], { days });
      return deliveries + jobs > 0 ? { deliveries, signedTexts, jobs } : null;
    },
    signedTexts: (above, limit) =>
      query(
        `SELECT id, signed_data AS "signedData" FROM inbox.signed_texts
         WHERE id > $1 AND signed_data <> '' ORDER BY id LIMIT $2`,
        [above, limit],
      ),
    emptyTexts: async ids => {
      const [deliveries] = await query<{ count: number }>(EMPTY, [ids]);
      return deliveries?.count ?? 0;
    },
  };
}

/** Each state by its index. */
function openJobs(columns: string): string {
  return ['waiting', 'running', 'paused', 'failed']
    .map(state => `SELECT ${columns} FROM inbox.jobs WHERE state = '${state}'`)
    .join(' UNION ALL ');
}
