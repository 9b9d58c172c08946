import { type Sqlite, write } from '../open.js';
import type { FreshnessFact, KnownResource } from '../../../mirror/port.js';
import type { MirrorOperations } from './operations.js';

const READ = `
  SELECT r.organization_id AS organizationId, r.resource, r.complete_at AS completeAt, a.oldest_unread_at AS oldestUnreadAt
  FROM resource_states AS r
  LEFT JOIN freshness_facts AS a ON a.organization_id = r.organization_id AND a.resource = r.resource
  WHERE r.complete_at IS NOT NULL AND r.forbidden_at IS NULL AND r.not_offered_at IS NULL
    AND r.resource <> 'certificates'`;

/** What a worker tells of the inbox to those who see the mirror alone. */
export function createFactRows(
  db: Sqlite,
): Pick<MirrorOperations, 'freshnessFacts' | 'knownResources' | 'keepFreshnessFacts'> {
  const watched = db.prepare<[], string | null>('SELECT worker_seen_at FROM origin').pluck();
  const oldest = db.prepare<[], string | null>('SELECT min(complete_at) FROM resource_states').pluck();
  const announced = db.prepare<[], KnownResource>(
    `${READ} AND a.oldest_unread_at IS NOT NULL
     AND r.organization_id IN (SELECT organization_id FROM installations WHERE state = 'active')`,
  );
  const resourcesOf = db.prepare<[string], KnownResource>(
    `${READ} AND r.organization_id =
       (SELECT organization_id FROM installations WHERE id = ? AND state = 'active')`,
  );
  const all = db.prepare<[], FreshnessFact>(
    'SELECT organization_id AS organizationId, resource, oldest_unread_at AS oldestUnreadAt FROM freshness_facts',
  );
  const put = db.prepare<[FreshnessFact]>(
    `INSERT INTO freshness_facts VALUES (@organizationId, @resource, @oldestUnreadAt)
     ON CONFLICT DO UPDATE SET oldest_unread_at = excluded.oldest_unread_at`,
  );
  const remove = db.prepare<[string, string]>(
    'DELETE FROM freshness_facts WHERE organization_id = ? AND resource = ?',
  );
  const watch = db.prepare<[string]>('UPDATE origin SET worker_seen_at = ?');
  return {
    freshnessFacts: () => ({
      workerSeenAt: watched.get() ?? null,
      oldestRead: oldest.get() ?? null,
      announced: announced.all(),
    }),
    knownResources: ids => new Map(ids.map(id => [id, resourcesOf.all(id)])),
    keepFreshnessFacts: (facts, workerSeenAt) =>
      write(db, () => {
        const before = new Map(all.all().map(row => [keyOf(row), row]));
        for (const row of facts) {
          if (before.get(keyOf(row))?.oldestUnreadAt !== row.oldestUnreadAt) put.run(row);
          before.delete(keyOf(row));
        }
        for (const { organizationId, resource } of before.values()) remove.run(organizationId, resource);
        watch.run(workerSeenAt);
      }),
  };
}

function keyOf({ organizationId, resource }: FreshnessFact): string {
  return `${organizationId} ${resource}`;
}
