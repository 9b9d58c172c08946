import type { EvidencePort } from '../../evidence/port.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';

const HOUR_MS = 3_600_000;

type LockValues = {
  readonly holder: string;
  readonly until: string;
  readonly now: string;
  /** The latest valid end of a lock. */
  readonly latest: string;
};
/** Takes or extends the lock, unless another holder has it. */
const ACQUIRE_LOCK = prepared(({ db }, { holder, until, now, latest }: Params<LockValues>) =>
  db
    .insertInto('evidence.sealer')
    .values({ only_row: 1, holder, until_at: until })
    .onConflict(conflict =>
      conflict
        .column('only_row')
        .doUpdateSet(build => ({
          holder: build.ref('excluded.holder'),
          until_at: build.ref('excluded.until_at'),
        }))
        .where(build =>
          build.or([
            build('evidence.sealer.holder', '=', build.ref('excluded.holder')),
            build('evidence.sealer.until_at', '<', now),
            build('evidence.sealer.until_at', '>', latest),
          ]),
        ),
    )
    .returning('only_row'),
);

/** Creates the method of `EvidencePort` that takes a lock, so that only one process at a time writes the evidence log. */
export function createSealerLock({ runOnLog }: EvidenceDatabase): Pick<EvidencePort, 'acquireLock'> {
  return {
    acquireLock: async (holder, now, until) => {
      const toText = (ms: number) => new Date(ms).toISOString();
      // No process locks the log for an hour. A lock that lasts longer is forged, or was made before the clock was set back.
      const values = { holder, until: toText(until), now: toText(now), latest: toText(now + HOUR_MS) };
      const [acquired] = await runOnLog(ACQUIRE_LOCK(values));
      return acquired.length > 0;
    },
  };
}
