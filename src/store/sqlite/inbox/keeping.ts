import type { SignedText } from '../../../inbox/delivery.js';
import { INSTALLATION_JOB, type JobCounts, type Named } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/columns.js';
import { type Sqlite, write } from '../open.js';
import { statement } from '../statement.js';

type Keeping = Pick<InboxPort, 'countJobs' | 'toLookAt' | 'prune' | 'signedTexts' | 'emptyTexts'>;

const DAY_MS = 86_400_000;
const BATCH = 500;

const COUNT = `SELECT
  (SELECT count(*) FROM jobs WHERE state = 'waiting') AS waiting,
  (SELECT count(*) FROM jobs WHERE state = 'running') AS running,
  (SELECT count(*) FROM jobs WHERE state = 'paused') AS paused,
  (SELECT count(*) FROM jobs WHERE state = 'failed') AS failed,
  (SELECT min(run_at) FROM jobs WHERE state = 'waiting') AS oldestRunAt`;

/** Each state by its index. One that had failed before a sync that came to its end is answered. */
const TO_LOOK_AT = `
  SELECT installation_id AS id, max(organization_id) AS organizationId
  FROM (${['waiting', 'running', 'paused', 'failed'].map(state => `SELECT * FROM jobs WHERE state = '${state}'`).join(' UNION ALL ')}) AS j
  WHERE kind = '${INSTALLATION_JOB}' AND installation_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM jobs AS d
    WHERE j.state = 'failed' AND d.installation_id = j.installation_id AND d.kind = j.kind
      AND d.state = 'done' AND d.started_at > j.started_at)
  GROUP BY installation_id ORDER BY installation_id`;

const OLD_DELIVERIES = `SELECT id FROM deliveries WHERE received_at < @before
  ORDER BY received_at, id LIMIT ${BATCH}`;

/** A signed text goes with its last delivery. Failed, waiting and running jobs stay. */
export function createKeeping(db: Sqlite, now: () => number): Keeping {
  const counts = db.prepare<[], JobCounts>(COUNT);
  const toLookAt = db.prepare<[], Named>(TO_LOOK_AT);
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
  const texts = db.prepare<[number, number], SignedText>(
    `SELECT id, signed_data AS signedData FROM signed_texts WHERE id > ? AND signed_data <> '' ORDER BY id LIMIT ?`,
  );
  const empty = db.prepare<[number]>("UPDATE signed_texts SET signed_data = '' WHERE id = ?");
  const named = db
    .prepare<[number], number>('SELECT count(*) FROM deliveries WHERE stored_text_id = ?')
    .pluck();

  return {
    countJobs: async () =>
      counts.get() ?? { waiting: 0, running: 0, paused: 0, failed: 0, oldestRunAt: null },
    toLookAt: async () => toLookAt.all(),
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
    signedTexts: async (above, limit) => texts.all(above, limit),
    emptyTexts: async ids => {
      db.pragma('secure_delete = ON');
      write(db, () => ids.forEach(id => empty.run(id)));
      return ids.reduce((sum, id) => sum + (named.get(id) ?? 0), 0);
    },
  };
}
