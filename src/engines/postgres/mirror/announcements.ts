import type { MirrorPort } from '../../../mirror/port.js';
import type { Postgres } from '../open.js';

/** Who sees the mirror sees the inbox too, by the view `freshness`: nothing is looked through, and nothing copied. */
export function createAnnouncements({
  query,
}: Postgres): Pick<MirrorPort, 'announcements' | 'watchedResources' | 'announce'> {
  return {
    announcements: async () => ({ watchedAt: null, oldestRead: null, announced: [] }),
    watchedResources: async () => new Map(),
    announce: async (_announcements, watchedAt) => {
      await query('UPDATE mirror.origin SET watched_at = $1', [watchedAt]);
    },
  };
}
