import type { MirrorPort, WatchedResource } from '../../../mirror/port.js';
import type { Postgres } from '../open.js';
import type { Perform } from './perform.js';

const READ = `
  SELECT r.organization_id AS "organizationId", r.resource, r.complete_at AS "completeAt",
    a.announced_at AS "announcedAt"
  FROM mirror.resource_states AS r
  LEFT JOIN mirror.announcements AS a ON a.organization_id = r.organization_id AND a.resource = r.resource`;
const READABLE = `r.complete_at IS NOT NULL AND r.forbidden_at IS NULL AND r.not_offered_at IS NULL
  AND r.resource <> 'certificates'`;

/** One look at a time: the row of the origin is held. */
const WATCH = `
  UPDATE mirror.origin SET watched_at = ($1 ->> 'watched_at')::timestamptz RETURNING '{}'::jsonb`;

const ANNOUNCE = `
  WITH given AS (
    SELECT * FROM jsonb_to_recordset($1 -> 'announcements')
      AS a ("organizationId" text, resource text, "announcedAt" timestamptz)
  ),
  removed AS (
    DELETE FROM mirror.announcements AS a WHERE NOT EXISTS (
      SELECT 1 FROM given AS g WHERE g."organizationId" = a.organization_id AND g.resource = a.resource)
  ),
  put AS (
    INSERT INTO mirror.announcements AS a SELECT "organizationId", resource, "announcedAt" FROM given
    ON CONFLICT (organization_id, resource) DO UPDATE SET announced_at = excluded.announced_at
      WHERE a.announced_at <> excluded.announced_at
  )
  SELECT '{}'::jsonb`;

/** What a worker tells of the inbox to those who see the mirror alone. */
export function createAnnouncements(
  { query }: Postgres,
  perform: Perform,
): Pick<MirrorPort, 'announcements' | 'watchedResources' | 'announce'> {
  return {
    announcements: async () => {
      const [[at], announced] = await Promise.all([
        query<{ watchedAt: string | null; oldestRead: string | null }>(
          `SELECT (SELECT watched_at FROM mirror.origin) AS "watchedAt",
             (SELECT min(complete_at) FROM mirror.resource_states) AS "oldestRead"`,
        ),
        query<WatchedResource>(
          `${READ} WHERE ${READABLE} AND a.announced_at IS NOT NULL AND r.organization_id IN
             (SELECT organization_id FROM mirror.installations WHERE state = 'active')`,
        ),
      ]);
      return { watchedAt: at?.watchedAt ?? null, oldestRead: at?.oldestRead ?? null, announced };
    },
    watchedResources: async ids => {
      const rows = await query<WatchedResource & { installationId: string }>(
        `SELECT i.id AS "installationId", w.* FROM mirror.installations AS i
         JOIN (${READ} WHERE ${READABLE}) AS w ON w."organizationId" = i.organization_id
         WHERE i.state = 'active' AND i.id = ANY ($1::text[])`,
        [ids],
      );
      const found = new Map<string, WatchedResource[]>(ids.map(id => [id, []]));
      for (const { installationId, ...row } of rows) found.get(installationId)?.push(row);
      return found;
    },
    announce: async (announcements, watchedAt) => {
      await perform([WATCH, ANNOUNCE], { announcements, watched_at: watchedAt });
    },
  };
}
