import { MirrorError } from '../../../mirror/errors.js';
import type { MirrorPort } from '../../../mirror/port.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Postgres } from '../open.js';

/** One mirror, one registry: the first caller's address and app are remembered, any other is refused. */
export function createOrigin({
  query,
}: Postgres): Pick<
  MirrorPort,
  'checkOrigin' | 'moveOrigin' | 'setSchedule' | 'lastListed' | 'noteListed' | 'filledSince'
> {
  return {
    checkOrigin: async (baseUrl, appId, at) => {
      await query(
        `INSERT INTO mirror.origin (only_row, base_url, app_id, created_at) VALUES (1, $1, $2, $3)
         ON CONFLICT DO NOTHING`,
        [baseUrl, appId, formatInstant(at)],
      );
      const [stored] = await query<{ base_url: string; app_id: string }>(
        'SELECT base_url, app_id FROM mirror.origin',
      );
      if (stored?.base_url === baseUrl && stored.app_id === appId) return;
      throw new MirrorError(
        'foreign_registry',
        `this mirror was filled from ${stored?.base_url} by app ${stored?.app_id}, ` +
          `the settings name ${baseUrl} and app ${appId}: use another database, or the old settings`,
      );
    },
    moveOrigin: async (baseUrl, appId) => {
      await query('UPDATE mirror.origin SET base_url = $1 WHERE app_id = $2', [baseUrl, appId]);
    },
    setSchedule: async seconds => {
      await query('UPDATE mirror.origin SET schedule_seconds = $1 WHERE schedule_seconds <> $1', [seconds]);
    },
    lastListed: async () => {
      const [row] = await query<{ listed_at: string | null; schedule_seconds: number }>(
        'SELECT listed_at, schedule_seconds FROM mirror.origin',
      );
      const { listed_at: at = null, schedule_seconds: seconds = 0 } = row ?? {};
      return { at: at === null ? null : Date.parse(at), goodForMs: seconds * 1000 };
    },
    noteListed: async at =>
      void (await query('UPDATE mirror.origin SET listed_at = $1', [formatInstant(at)])),
    filledSince: async () => {
      const [row] = await query<{ created_at: string }>('SELECT created_at FROM mirror.origin');
      return row?.created_at ?? null;
    },
  };
}
