import { sql } from 'kysely';
import { NO_LIMIT, type Attestation, type Checkpoint, type EvidencePort } from '../../evidence/port.js';
import { type CellsOf, type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';

/** The methods of `EvidencePort` that store checkpoints and attestations. */
type CheckpointStore = Pick<
  EvidencePort,
  | 'findCheckpoint'
  | 'listCheckpoints'
  | 'storeCheckpoint'
  | 'storeAttestation'
  | 'findNewestAttestation'
  | 'listTimestamps'
>;

const FIND_NEWEST_CHECKPOINT = prepared(({ db }, { maxSize }: Params<{ readonly maxSize: number }>) =>
  db
    .selectFrom('evidence.checkpoints')
    .selectAll()
    .where('size', '<=', maxSize)
    .orderBy('size', 'desc')
    .limit(sql.lit(1)),
);
type SizeRange = { readonly afterSize: number; readonly toSize: number; readonly limit: number };
const LIST_CHECKPOINTS = prepared(({ db }, { afterSize, toSize, limit }: Params<SizeRange>) =>
  db
    .selectFrom('evidence.checkpoints')
    .selectAll()
    .where('size', '>', afterSize)
    .where('size', '<=', toSize)
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
const FIND_NEWEST_ATTESTATION_OF_KIND = prepared(({ db }, { kind }: Params<Pick<Attestation, 'kind'>>) =>
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

/**
 * Creates the methods of `EvidencePort` that store checkpoints of the evidence log, and attestations: notes that a checkpoint
 * was printed or timestamped.
 */
export function createCheckpointStore({ runOnLog, commitToLog }: EvidenceDatabase): CheckpointStore {
  return {
    findCheckpoint: async maxSize => {
      const [[newest]] = await runOnLog(FIND_NEWEST_CHECKPOINT({ maxSize }));
      return newest ?? null;
    },
    listCheckpoints: async (afterSize, toSize, limit = NO_LIMIT) =>
      (await runOnLog(LIST_CHECKPOINTS({ afterSize, toSize, limit })))[0],
    storeCheckpoint: async checkpoint => void (await commitToLog(INSERT_CHECKPOINT(checkpoint))),
    storeAttestation: async attestation => void (await commitToLog(INSERT_ATTESTATION(attestation))),
    findNewestAttestation: async kind => {
      const [[newest]] = await runOnLog(
        kind === null ? FIND_NEWEST_ATTESTATION() : FIND_NEWEST_ATTESTATION_OF_KIND({ kind }),
      );
      return newest ?? null;
    },
    listTimestamps: async () => (await runOnLog(LIST_TIMESTAMPS()))[0],
  };
}
