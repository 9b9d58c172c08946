import { MirrorError } from '../../mirror/mirror-error.js';
import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import { formatInstant } from '../../resources/sql-values.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { Database } from '../statement.js';
import { LIST_FORGOTTEN } from './forget-people.js';
import { toMilliseconds } from './list-states.js';

type Registry = { readonly baseUrl: string; readonly appId: string };

const INSERT_ORIGIN = prepared(({ db }, { baseUrl, appId, at }: Params<Registry & { readonly at: string }>) =>
  db
    .insertInto('mirror.origin')
    .values({ only_row: 1, base_url: baseUrl, app_id: appId, created_at: at })
    .onConflict(conflict => conflict.doNothing()),
);
const READ_ORIGIN = prepared(({ db }) =>
  db
    .selectFrom('mirror.origin')
    .select(['base_url', 'app_id', 'created_at', 'listed_at', 'schedule_seconds']),
);
const READ_HIGHEST_CLAIM = prepared(({ db }) =>
  db.selectFrom('mirror.fences').select(({ fn }) => fn.max<number | null>('claim').as('claim')),
);
type NewAddress = Registry & { readonly simulatedUntil: string | null };
const MOVE_ORIGIN = prepared(({ db }, { baseUrl, appId, simulatedUntil }: Params<NewAddress>) =>
  db
    .updateTable('mirror.origin')
    .set(({ fn }) => ({
      base_url: baseUrl,
      simulated_until: fn.coalesce(simulatedUntil, 'simulated_until'),
    }))
    .where('app_id', '=', appId),
);
const SET_SCHEDULE = prepared(({ db }, { seconds }: Params<{ readonly seconds: number }>) =>
  db.updateTable('mirror.origin').set({ schedule_seconds: seconds }).where('schedule_seconds', '<>', seconds),
);

/**
 * Creates two methods of `MirrorPort`. The first call of `checkOrigin` stores the app and the base URL of the registry from which the
 * mirror is filled. Later calls throw `foreign_registry` if the app or the base URL differs from the stored one. With `mayMove`, the base
 * URL may differ and replaces the stored one. `readMirrorState` returns when the mirror was first filled, when the list of installations
 * was last read, the highest claim number that the mirror has seen, and the hashes of the email addresses of forgotten people.
 */
export function createOrigin({
  read,
  transact,
}: Database): Pick<MirrorPort, 'checkOrigin' | 'readMirrorState'> {
  return {
    checkOrigin: ({ baseUrl, appId, scheduleSeconds: seconds, mayMove = false, simulatedTo }, at) =>
      transact(async batch => {
        const [, , , [stored]] = await batch(
          INSERT_ORIGIN({ baseUrl, appId, at: formatInstant(at) }),
          mayMove
            ? MOVE_ORIGIN({
                baseUrl,
                appId,
                simulatedUntil: simulatedTo === undefined ? null : formatInstant(simulatedTo),
              })
            : null,
          seconds === undefined ? null : SET_SCHEDULE({ seconds }),
          READ_ORIGIN(),
        );
        if (stored?.base_url === baseUrl && stored.app_id === appId) return;
        throw new MirrorError(
          'foreign_registry',
          `this mirror was filled from ${stored?.base_url} by app ${stored?.app_id}, ` +
            `the settings name ${baseUrl} and app ${appId}: use another DATA_DIR or database, or the old settings`,
        );
      }),
    readMirrorState: async () => {
      const [[origin], [highest], forgotten] = await read(
        READ_ORIGIN(),
        READ_HIGHEST_CLAIM(),
        LIST_FORGOTTEN(),
      );
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
