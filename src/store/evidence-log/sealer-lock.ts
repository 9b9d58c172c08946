import type { EvidencePort } from '../../evidence/port.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';

const HOUR_MS = 3_600_000;

/** The values of the statement that acquires the lock. Instants are texts. */
type LockValues = {
  readonly holder: string;
  readonly expiresAt: string;
  readonly now: string;
  /** A lock of another holder that expires later than this is invalid. */
  readonly latestExpiry: string;
};
/** Acquires or extends the lock. Returns no row if another holder has it. */
const ACQUIRE_LOCK = prepared(({ db }, { holder, expiresAt, now, latestExpiry }: Params<LockValues>) =>
  db
    .insertInto('evidence.sealer')
    .values({ only_row: 1, holder, until_at: expiresAt })
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
            build('evidence.sealer.until_at', '>', latestExpiry),
          ]),
        ),
    )
    .returning('only_row'),
);

/**
 * Creates the method of `EvidencePort` that acquires or extends the lock of the evidence log. Only the process that has the lock may write
 * the log.
 */
export function createWriterLock({ runOnLog }: EvidenceDatabase): Pick<EvidencePort, 'acquireLock'> {
  return {
    acquireLock: async (holder, now, expiresAt) => {
      const toInstant = (ms: number) => new Date(ms).toISOString();
      // No process locks the log for an hour. A lock that lasts longer is forged, or was made before the clock was set back.
      const [acquired] = await runOnLog(
        ACQUIRE_LOCK({
          holder,
          expiresAt: toInstant(expiresAt),
          now: toInstant(now),
          latestExpiry: toInstant(now + HOUR_MS),
        }),
      );
      return acquired.length > 0;
    },
  };
}
