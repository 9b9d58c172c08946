import { sql } from 'kysely';
import { type Sqlite, write } from '../open.js';
import { parameter, statement } from '../statement.js';
import { raw, toInstant } from './queries.js';

export interface Pruned {
  readonly deliveries: number;
  readonly signedTexts: number;
  readonly jobs: number;
}

const DAY_MS = 86_400_000;
const BATCH = 500;

/**
 * Remove one small batch of what is older than the retention; call it again until it answers null.
 * A signed text goes with its last delivery. Buried, waiting and running jobs stay. 0 days keep everything for ever.
 */
export function createPrune(db: Sqlite): (now: number, retentionDays: number) => Pruned | null {
  const before = parameter('before');
  const oldDeliveries = sql`SELECT id FROM deliveries WHERE received_at < ${before}
    ORDER BY received_at, id LIMIT ${sql.lit(BATCH)}`;
  const signedTexts = statement<{ before: string }>(
    db,
    raw(sql<never>`DELETE FROM signed_texts WHERE last_received_at < ${before} AND id IN (
      SELECT text_id FROM deliveries WHERE id IN (${oldDeliveries}))`),
  );
  const deliveries = statement<{ before: string }>(
    db,
    raw(sql<never>`DELETE FROM deliveries WHERE id IN (${oldDeliveries})`),
  );
  const jobs = statement<{ before: string }>(
    db,
    raw(sql<never>`DELETE FROM jobs WHERE id IN (
      SELECT id FROM jobs WHERE state = 'done' AND finished_at < ${before}
      ORDER BY finished_at LIMIT ${sql.lit(BATCH)})`),
  );

  return (now, retentionDays) => {
    if (retentionDays === 0) return null;
    const bound = { before: toInstant(now - retentionDays * DAY_MS) };
    const pruned = write(db, () => ({
      signedTexts: signedTexts.run(bound),
      deliveries: deliveries.run(bound),
      jobs: jobs.run(bound),
    }));
    return pruned.deliveries + pruned.jobs > 0 ? pruned : null;
  };
}
