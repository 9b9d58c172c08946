import { MirrorError } from '../../mirror/errors.js';
import type { MirrorPort } from '../../mirror/port.js';
import { formatInstant } from '../../resources/columns.js';
import type { Tables } from '../contract/tables.js';
import type { Database } from '../database.js';
import { fixed, statement } from '../statement.js';

type Origin = Pick<Tables['origin'], 'base_url' | 'app_id' | 'created_at' | 'listed_at' | 'schedule_seconds'>;

const FILL = statement<{ baseUrl: string; appId: string; at: string }>(
  `INSERT INTO mirror.origin (only_row, base_url, app_id, created_at) VALUES (1, @baseUrl, @appId, @at)
   ON CONFLICT DO NOTHING`,
);
const ORIGIN = fixed<Origin>(
  'SELECT base_url, app_id, created_at, listed_at, schedule_seconds FROM mirror.origin',
);
const MOVE = statement<{ baseUrl: string; appId: string; simulatedUntil: string | null }>(
  `UPDATE mirror.origin SET base_url = @baseUrl, simulated_until = coalesce(@simulatedUntil, simulated_until)
   WHERE app_id = @appId`,
);
const SET_SCHEDULE = statement<{ seconds: number }>(
  'UPDATE mirror.origin SET schedule_seconds = @seconds WHERE schedule_seconds <> @seconds',
);
const NOTE_LISTED = statement<{ at: string }>('UPDATE mirror.origin SET listed_at = @at');

/** One mirror, one registry: the first caller's address and app are remembered, any other is refused. */
export function createOrigin({
  look,
  transact,
}: Database): Pick<
  MirrorPort,
  'checkOrigin' | 'moveOrigin' | 'setSchedule' | 'lastListed' | 'noteListed' | 'filledSince'
> {
  const known = async (): Promise<Origin | undefined> => (await look(ORIGIN))[0][0];
  return {
    checkOrigin: async (baseUrl, appId, at) => {
      const [, [stored]] = await transact(batch =>
        batch(FILL({ baseUrl, appId, at: formatInstant(at) }), ORIGIN),
      );
      if (stored?.base_url === baseUrl && stored.app_id === appId) return;
      throw new MirrorError(
        'foreign_registry',
        `this mirror was filled from ${stored?.base_url} by app ${stored?.app_id}, ` +
          `the settings name ${baseUrl} and app ${appId}: use another DATA_DIR or database, or the old settings`,
      );
    },
    moveOrigin: async (baseUrl, appId, simulatedTo) => {
      const simulatedUntil = simulatedTo === null ? null : formatInstant(simulatedTo);
      await transact(batch => batch(MOVE({ baseUrl, appId, simulatedUntil })));
    },
    /** Readers need the time between two scheduled reads to say what is overdue. */
    setSchedule: async seconds => void (await transact(batch => batch(SET_SCHEDULE({ seconds })))),
    lastListed: async () => {
      const { listed_at: at = null, schedule_seconds: seconds = 0 } = (await known()) ?? {};
      return { at: at === null ? null : Date.parse(at), goodForMs: seconds * 1000 };
    },
    noteListed: async at => void (await transact(batch => batch(NOTE_LISTED({ at: formatInstant(at) })))),
    filledSince: async () => (await known())?.created_at ?? null,
  };
}
