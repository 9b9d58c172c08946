import type { Pruned } from '../../../inbox/job.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';
import { toInstant } from './text.js';

const DAY_MS = 86_400_000;
const BATCH = 500;

const OLD_DELIVERIES = `SELECT id FROM deliveries WHERE received_at < @before
  ORDER BY received_at, id LIMIT ${BATCH}`;

/**
 * One small batch of what is older than so many days, to be removed inside `write`.
 * A signed text goes with its last delivery. Buried, waiting and running jobs stay.
 */
export function createPrune(db: Sqlite): (days: number, now: number) => Pruned {
  const signedTexts = statement<{ before: string }>(
    db,
    `DELETE FROM signed_texts WHERE last_received_at < @before AND id IN (
      SELECT text_id FROM deliveries WHERE id IN (${OLD_DELIVERIES}))`,
  );
  const deliveries = statement<{ before: string }>(
    db,
    `DELETE FROM deliveries WHERE id IN (${OLD_DELIVERIES})`,
  );
  const jobs = statement<{ before: string }>(
    db,
    `DELETE FROM jobs WHERE id IN (
      SELECT id FROM jobs WHERE state = 'done' AND finished_at < @before ORDER BY finished_at LIMIT ${BATCH})`,
  );

  return (days, now) => {
    const bound = { before: toInstant(now - days * DAY_MS) };
    return {
      signedTexts: signedTexts.run(bound),
      deliveries: deliveries.run(bound),
      jobs: jobs.run(bound),
    };
  };
}
