import type { Tables } from '../../contract/tables.js';
import { type Sqlite, write } from '../open.js';
import { formatInstant } from '../../../resources/columns.js';
import { MirrorError } from '../../../mirror/errors.js';
import type { MirrorOperations } from './operations.js';

type Origin = Pick<Tables['origin'], 'base_url' | 'app_id'>;

export function createOrigin(
  db: Sqlite,
): Pick<
  MirrorOperations,
  'checkOrigin' | 'moveOrigin' | 'setSchedule' | 'lastListed' | 'noteListed' | 'filledSince'
> {
  const listed = db.prepare<[], Pick<Tables['origin'], 'listed_at' | 'schedule_seconds'>>(
    'SELECT listed_at, schedule_seconds FROM origin',
  );
  return {
    /** One mirror, one registry: the first caller's address and app are remembered, any other is refused. */
    checkOrigin: (baseUrl, appId, at) => {
      const stored = write(db, () => {
        db.prepare(
          'INSERT INTO origin (only_row, base_url, app_id, created_at) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING',
        ).run(baseUrl, appId, formatInstant(at));
        return db.prepare<[], Origin>('SELECT base_url, app_id FROM origin').get();
      });
      if (stored?.base_url === baseUrl && stored.app_id === appId) return;
      throw new MirrorError(
        'foreign_registry',
        `this mirror was filled from ${stored?.base_url} by app ${stored?.app_id}, ` +
          `the settings name ${baseUrl} and app ${appId}: use another DATA_DIR, or the old settings`,
      );
    },
    moveOrigin: (baseUrl, appId) => {
      const move = db.prepare('UPDATE origin SET base_url = ? WHERE app_id = ?');
      write(db, () => move.run(baseUrl, appId));
    },
    /** Readers need the time between two scheduled reads to say what is late. */
    setSchedule: seconds => {
      const set = db.prepare('UPDATE origin SET schedule_seconds = ? WHERE schedule_seconds <> ?');
      write(db, () => set.run(seconds, seconds));
    },
    lastListed: () => {
      const { listed_at: at = null, schedule_seconds: seconds = 0 } = listed.get() ?? {};
      return { at: at === null ? null : Date.parse(at), goodForMs: seconds * 1000 };
    },
    noteListed: at => void db.prepare('UPDATE origin SET listed_at = ?').run(formatInstant(at)),
    filledSince: () => db.prepare<[], string>('SELECT created_at FROM origin').pluck().get() ?? null,
  };
}
