import type { EvidencePort } from '../../evidence/port.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';

const HOUR_MS = 3_600_000;

type ClaimValues = {
  readonly holder: string;
  readonly until: string;
  readonly now: string;
  /** A claim that lasts longer is not valid. */
  readonly latest: string;
};
/** Takes the lock, unless another holder has a valid claim. */
const CLAIM = prepared(({ db }, { holder, until, now, latest }: Params<ClaimValues>) =>
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

/** Creates the part of the port through which one process at a time claims the right to seal. */
export function createSealClaim({ runOnLog }: EvidenceDatabase): Pick<EvidencePort, 'claim'> {
  return {
    claim: async (holder, now, until) => {
      const toText = (ms: number) => new Date(ms).toISOString();
      // No process claims the log for an hour: such a claim is forged, or was made before the clock was set back.
      const values = { holder, until: toText(until), now: toText(now), latest: toText(now + HOUR_MS) };
      const [claimed] = await runOnLog(CLAIM(values));
      return claimed.length > 0;
    },
  };
}
