import type { EvidencePort } from '../../evidence/port.js';
import type { Batch } from '../statement.js';

/** The two databases of the evidence port. */
export interface EvidenceDatabase {
  /** Reads the mirror. Integers are numbers if these keep every digit. */
  readonly readMirror: Batch;
  /** Runs statements on the log, each in a transaction of its own. */
  readonly runOnLog: Batch;
  /** Runs statements on the log in one transaction. */
  readonly commitToLog: Batch;
  readonly close: EvidencePort['close'];
}
