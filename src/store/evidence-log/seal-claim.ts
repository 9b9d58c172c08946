import { sql } from 'kysely';
import type { EvidencePort } from '../../evidence/port.js';
import { named, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';

const HOUR_MS = 3_600_000;

const own = named('evidence.sealer');
const stored = named('evidence.sealer', 'stored');
const excluded = named('evidence.sealer', 'excluded');

type ClaimValues = {
  readonly holder: string;
  readonly until: string;
  readonly now: string;
  /** A claim that lasts longer is not valid. */
  readonly latest: string;
};
/** Takes the lock, unless another holder has a valid claim. */
const CLAIM = prepared(
  (_, { holder, until, now, latest }: Params<ClaimValues>) =>
    sqlStatement`INSERT INTO ${stored()} (${own.only_row}, ${own.holder}, ${own.until_at}) VALUES (${sql.lit(1)}, ${holder}, ${until})
      ON CONFLICT (${own.only_row}) DO UPDATE SET ${own.holder} = ${excluded.holder}, ${own.until_at} = ${excluded.until_at}
      WHERE ${stored.holder} = ${excluded.holder} OR ${stored.until_at} < ${now} OR ${stored.until_at} > ${latest}
      RETURNING ${select({ row: own.only_row })}`,
);

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
