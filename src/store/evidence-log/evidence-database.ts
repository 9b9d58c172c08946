import type { EvidencePort } from '../../evidence/port.js';
import type { RunBatch } from '../statement.js';

/** The connections behind an `EvidencePort`: to the evidence log, and to the mirror for reading. */
export interface EvidenceDatabase {
  /** Reads the mirror. Returns an integer as a number, or as a bigint if a number would lose digits. */
  readonly readMirror: RunBatch;
  /** Runs statements on the log, each in its own transaction. */
  readonly runOnLog: RunBatch;
  /** Runs statements on the log in one transaction. */
  readonly commitToLog: RunBatch;
  readonly close: EvidencePort['close'];
}
