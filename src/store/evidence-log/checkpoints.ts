import { sql } from 'kysely';
import { NO_LIMIT, type Attestation, type Checkpoint, type EvidencePort } from '../../evidence/port.js';
import { type CellsOf, type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';

type CheckpointStore = Pick<
  EvidencePort,
  | 'findCheckpoint'
  | 'listCheckpoints'
  | 'storeCheckpoint'
  | 'storeAttestation'
  | 'findNewestAttestation'
  | 'listTimestamps'
>;

const FIND_NEWEST = prepared(({ db }, { atMost }: Params<{ readonly atMost: number }>) =>
  db
    .selectFrom('evidence.checkpoints')
    .selectAll()
    .where('size', '<=', atMost)
    .orderBy('size', 'desc')
    .limit(sql.lit(1)),
);
type SizeRange = { readonly after: number; readonly to: number; readonly limit: number };
const LIST_BETWEEN = prepared(({ db }, { after, to, limit }: Params<SizeRange>) =>
  db
    .selectFrom('evidence.checkpoints')
    .selectAll()
    .where('size', '>', after)
    .where('size', '<=', to)
    .orderBy('size')
    .limit(limit),
);
const INSERT_CHECKPOINT = prepared(({ db }, { size, peaks, note }: Params<Checkpoint>) =>
  db.insertInto('evidence.checkpoints').values({ size, peaks, note }),
);

const INSERT_ATTESTATION = prepared(
  ({ db }, { size, kind, requested_at, attested_at, token }: Params<CellsOf<Attestation>>) =>
    db
      .insertInto('evidence.attestations')
      .values({ size, kind, requested_at, attested_at, token })
      .onConflict(conflict => conflict.doNothing()),
);
const FIND_NEWEST_ATTESTATION = prepared(({ db }) =>
  db.selectFrom('evidence.attestations').selectAll().orderBy('requested_at', 'desc').limit(sql.lit(1)),
);
const FIND_NEWEST_OF_KIND = prepared(({ db }, { kind }: Params<Pick<Attestation, 'kind'>>) =>
  db
    .selectFrom('evidence.attestations')
    .selectAll()
    .where('kind', '=', kind)
    .orderBy('requested_at', 'desc')
    .limit(sql.lit(1)),
);
const LIST_TIMESTAMPS = prepared(({ db }) =>
  db.selectFrom('evidence.attestations').selectAll().where('kind', '=', 'timestamp').orderBy('size'),
);

/** The columns of a row as a type with an index signature, which the parameters of a statement need. */

/**
 * Creates the methods of `EvidencePort` that store checkpoints of the evidence log, and the attestations that a checkpoint was
 * printed or timestamped.
 */
export function createCheckpointStore({ runOnLog, commitToLog }: EvidenceDatabase): CheckpointStore {
  return {
    findCheckpoint: async atMost => {
      const [[newest]] = await runOnLog(FIND_NEWEST({ atMost }));
      return newest ?? null;
    },
    listCheckpoints: async (after, to, atMost = NO_LIMIT) =>
      (await runOnLog(LIST_BETWEEN({ after, to, limit: atMost })))[0],
    storeCheckpoint: async checkpoint => void (await commitToLog(INSERT_CHECKPOINT(checkpoint))),
    storeAttestation: async attestation => void (await commitToLog(INSERT_ATTESTATION(attestation))),
    findNewestAttestation: async kind => {
      const [[newest]] = await runOnLog(
        kind === null ? FIND_NEWEST_ATTESTATION() : FIND_NEWEST_OF_KIND({ kind }),
      );
      return newest ?? null;
    },
    listTimestamps: async () => (await runOnLog(LIST_TIMESTAMPS()))[0],
  };
}
