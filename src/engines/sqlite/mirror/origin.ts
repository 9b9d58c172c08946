import { type Sqlite, write } from '../open.js';
import { formatInstant } from '../../../resources/columns.js';
import { MirrorError } from '../../../mirror/errors.js';

interface Origin {
  readonly base_url: string;
  readonly app_id: string;
}

/** One mirror, one registry: the first caller's address and app are remembered, any other is refused. */
export function checkOrigin(db: Sqlite, baseUrl: string, appId: string, at: number): void {
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
}

/** Readers need the time between two scheduled reads to say what is late. */
export function setSchedule(db: Sqlite, seconds: number): void {
  write(db, () =>
    db.prepare('UPDATE origin SET schedule_seconds = ? WHERE schedule_seconds <> ?').run(seconds, seconds),
  );
}

export function filledSince(db: Sqlite): string | null {
  return db.prepare<[], string>('SELECT created_at FROM origin').pluck().get() ?? null;
}
