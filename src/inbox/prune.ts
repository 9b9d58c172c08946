import { sql } from 'kysely';
import { type Sqlite, write } from '../database/open.js';
import { parameter, statement } from '../database/statement.js';
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
 * Buried, waiting and running jobs stay. 0 days keep everything for ever.
 */
export function createPrune(db: Sqlite): (now: number, retentionDays: number) => Pruned | null {
  const deliveries = removal(db, 'deliveries', 'received_at < ', 'received_at');
  const signedTexts = removal(db, 'signed_texts', 'last_received_at < ', 'last_received_at');
  const jobs = removal(db, 'jobs', "state = 'done' AND finished_at < ", 'finished_at');

  return (now, retentionDays) => {
    if (retentionDays === 0) return null;
    const before = toInstant(now - retentionDays * DAY_MS);
    const pruned = write(db, () => ({
      deliveries: deliveries.run({ before }),
      signedTexts: signedTexts.run({ before }),
      jobs: jobs.run({ before }),
    }));
    return pruned.deliveries + pruned.signedTexts + pruned.jobs > 0 ? pruned : null;
  };
}

function removal(db: Sqlite, table: string, condition: string, order: string) {
  return statement<{ before: string }>(
    db,
    raw(sql<never>`DELETE FROM ${sql.table(table)} WHERE rowid IN (
      SELECT rowid FROM ${sql.table(table)} WHERE ${sql.raw(condition)} ${parameter('before')}
      ORDER BY ${sql.ref(order)} LIMIT ${sql.lit(BATCH)})`),
  );
}
