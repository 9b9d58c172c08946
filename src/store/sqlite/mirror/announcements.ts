import { type Sqlite, write } from '../open.js';
import type { Announcement, NamedInstallation, WatchedResource } from '../../../mirror/port.js';
import type { MirrorOperations } from './operations.js';

const READ = `
  SELECT r.organization_id AS organizationId, r.resource, r.complete_at AS completeAt, a.announced_at AS announcedAt
  FROM resource_states AS r
  LEFT JOIN announcements AS a ON a.organization_id = r.organization_id AND a.resource = r.resource
  WHERE r.complete_at IS NOT NULL AND r.forbidden_at IS NULL AND r.not_offered_at IS NULL
    AND r.resource <> 'certificates'`;

/** What a worker tells of the inbox to those who see the mirror alone. */
export function createAnnouncements(
  db: Sqlite,
): Pick<MirrorOperations, 'announcements' | 'watchedResources' | 'announce' | 'expect'> {
  const watched = db.prepare<[], string | null>('SELECT watched_at FROM origin').pluck();
  const oldest = db.prepare<[], string | null>('SELECT min(complete_at) FROM resource_states').pluck();
  const announced = db.prepare<[], WatchedResource>(
    `${READ} AND a.announced_at IS NOT NULL
     AND r.organization_id IN (SELECT organization_id FROM installations WHERE state = 'active')`,
  );
  const resourcesOf = db.prepare<[string], WatchedResource>(
    `${READ} AND r.organization_id =
       (SELECT organization_id FROM installations WHERE id = ? AND state = 'active')`,
  );
  const all = db.prepare<[], Announcement>(
    'SELECT organization_id AS organizationId, resource, announced_at AS announcedAt FROM announcements',
  );
  const put = db.prepare<[Announcement]>(
    `INSERT INTO announcements VALUES (@organizationId, @resource, @announcedAt)
     ON CONFLICT DO UPDATE SET announced_at = excluded.announced_at`,
  );
  const remove = db.prepare<[string, string]>(
    'DELETE FROM announcements WHERE organization_id = ? AND resource = ?',
  );
  const watch = db.prepare<[string]>('UPDATE origin SET watched_at = ?');
  const expected = db
    .prepare<[string], string>('SELECT id FROM awaited_installations WHERE known_at < ?')
    .pluck();
  const forget = db.prepare<[string]>('DELETE FROM awaited_installations WHERE id = ?');
  const expect = db.prepare<[NamedInstallation & { readonly at: string }]>(
    `INSERT INTO awaited_installations (id, organization_id, known_at)
     SELECT @id, @organizationId, @at WHERE NOT EXISTS (SELECT 1 FROM installations WHERE id = @id)
     ON CONFLICT DO UPDATE SET organization_id = excluded.organization_id
     WHERE organization_id IS NULL AND excluded.organization_id IS NOT NULL`,
  );
  return {
    expect: (named, at, areAll) =>
      write(db, () => {
        const ids = new Set(named.map(({ id }) => id));
        for (const id of areAll ? expected.all(at) : []) if (!ids.has(id)) forget.run(id);
        for (const { id, organizationId } of named) expect.run({ id, organizationId, at });
      }),
    announcements: () => ({
      watchedAt: watched.get() ?? null,
      oldestRead: oldest.get() ?? null,
      announced: announced.all(),
    }),
    watchedResources: ids => new Map(ids.map(id => [id, resourcesOf.all(id)])),
    announce: (announcements, watchedAt) =>
      write(db, () => {
        const before = new Map(all.all().map(row => [keyOf(row), row]));
        for (const row of announcements) {
          if (before.get(keyOf(row))?.announcedAt !== row.announcedAt) put.run(row);
          before.delete(keyOf(row));
        }
        for (const { organizationId, resource } of before.values()) remove.run(organizationId, resource);
        watch.run(watchedAt);
      }),
  };
}

function keyOf({ organizationId, resource }: Announcement): string {
  return `${organizationId} ${resource}`;
}
