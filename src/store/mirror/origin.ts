import { MirrorError } from '../../mirror/errors.js';
import type { MirrorPort } from '../../mirror/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Tables } from '../contract/tables.js';
import { fixed, statement, type Database } from '../statement.js';
import { LIST_FORGOTTEN } from './people.js';
import { toMilliseconds } from './states.js';

type Origin = Pick<Tables['origin'], 'base_url' | 'app_id' | 'created_at' | 'listed_at' | 'schedule_seconds'>;

const FILL = statement<{ baseUrl: string; appId: string; at: string }>(
  `INSERT INTO mirror.origin (only_row, base_url, app_id, created_at) VALUES (1, @baseUrl, @appId, @at)
   ON CONFLICT DO NOTHING`,
);
const ORIGIN = fixed<Origin>(
  'SELECT base_url, app_id, created_at, listed_at, schedule_seconds FROM mirror.origin',
);
const HIGHEST = fixed<{ claim: number | null }>('SELECT max(claim) AS claim FROM mirror.fences');
const MOVE = statement<{ baseUrl: string; appId: string; simulatedUntil: string | null }>(
  `UPDATE mirror.origin SET base_url = @baseUrl, simulated_until = coalesce(@simulatedUntil, simulated_until)
   WHERE app_id = @appId`,
);
const SET_SCHEDULE = statement<{ seconds: number }>(
  'UPDATE mirror.origin SET schedule_seconds = @seconds WHERE schedule_seconds <> @seconds',
);

/** One mirror, one registry: the first caller's address and app are remembered, any other is refused. */
export function createOrigin({ look, transact }: Database): Pick<MirrorPort, 'checkOrigin' | 'readState'> {
  return {
    checkOrigin: ({ baseUrl, appId, scheduleSeconds: seconds, mayMove = false, simulatedTo }, at) =>
      transact(async batch => {
        const [, , , [stored]] = await batch(
          FILL({ baseUrl, appId, at: formatInstant(at) }),
          mayMove
            ? MOVE({
                baseUrl,
                appId,
                simulatedUntil: simulatedTo === undefined ? null : formatInstant(simulatedTo),
              })
            : null,
          seconds === undefined ? null : SET_SCHEDULE({ seconds }),
          ORIGIN,
        );
        if (stored?.base_url === baseUrl && stored.app_id === appId) return;
        throw new MirrorError(
          'foreign_registry',
          `this mirror was filled from ${stored?.base_url} by app ${stored?.app_id}, ` +
            `the settings name ${baseUrl} and app ${appId}: use another DATA_DIR or database, or the old settings`,
        );
      }),
    readState: async () => {
      const [[origin], [highest], forgotten] = await look(ORIGIN, HIGHEST, LIST_FORGOTTEN());
      const {
        listed_at: listed = null,
        created_at: created = null,
        schedule_seconds: seconds = 0,
      } = origin ?? {};
      return {
        filledAt: toMilliseconds(created),
        listedAt: toMilliseconds(listed),
        listValidForMs: seconds * 1000,
        highestClaim: highest?.claim ?? 0,
        forgotten: new Set(forgotten.map(({ hash }) => hash)),
      };
    },
  };
}
