import type { Pruned } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import type { Query } from '../open.js';
import { AT, type Perform } from './perform.js';

type Keeping = Pick<InboxPort, 'prune' | 'emptyTexts'>;

const BATCH = 500;
const BEFORE = `${AT} - ($1 ->> 'days')::double precision * interval '1 day'`;

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
    prune: async days => {
      if (days === 0) return null;
      const { signedTexts, deliveries, jobs } = await perform<Pruned>([PRUNE], { days });
      return deliveries + jobs > 0 ? { deliveries, signedTexts, jobs } : null;
    },
    emptyTexts: async ids => {
      const [deliveries] = await query<{ count: number }>(EMPTY, [ids]);
      return deliveries?.count ?? 0;
    },
  };
}
