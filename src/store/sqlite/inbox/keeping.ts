import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/columns.js';
import { type Sqlite, write } from '../open.js';
import { statement } from '../statement.js';

type Keeping = Pick<InboxPort, 'prune' | 'emptyTexts'>;

const DAY_MS = 86_400_000;
const BATCH = 500;

const OLD_DELIVERIES = `SELECT id FROM deliveries WHERE received_at < @before
  ORDER BY received_at, id LIMIT ${BATCH}`;

/** A signed text goes with its last delivery. Failed, waiting and running jobs stay. */
export function createKeeping(db: Sqlite, now: () => number): Keeping {
  const oldTexts = statement<{ before: string }>(
    db,
    `DELETE FROM signed_texts WHERE last_received_at < @before AND id IN (
      SELECT stored_text_id FROM deliveries WHERE id IN (${OLD_DELIVERIES}))`,
  );
  const oldDeliveries = statement<{ before: string }>(
    db,
    `DELETE FROM deliveries WHERE id IN (${OLD_DELIVERIES})`,
  );
  const oldJobs = statement<{ before: string }>(
    db,
    `DELETE FROM jobs WHERE id IN (
      SELECT id FROM jobs WHERE state = 'done' AND finished_at < @before ORDER BY finished_at LIMIT ${BATCH})`,
  );
  const empty = db.prepare<[number]>("UPDATE signed_texts SET signed_data = '' WHERE id = ?");
  const named = db
    .prepare<[number], number>('SELECT count(*) FROM deliveries WHERE stored_text_id = ?')
    .pluck();

  return {
    prune: async days => {
      if (days === 0) return null;
      const old = { before: formatInstant(now() - days * DAY_MS) };
      const pruned = write(db, () => ({
        signedTexts: oldTexts.run(old),
        deliveries: oldDeliveries.run(old),
        jobs: oldJobs.run(old),
      }));
      return pruned.deliveries + pruned.jobs > 0 ? pruned : null;
    },
    emptyTexts: async ids => {
      db.pragma('secure_delete = ON');
      write(db, () => ids.forEach(id => empty.run(id)));
      return ids.reduce((sum, id) => sum + (named.get(id) ?? 0), 0);
    },
  };
}
