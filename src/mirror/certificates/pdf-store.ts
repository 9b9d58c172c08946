/** A stored PDF of a certificate. */
export interface CertificateFile {
  /** The file's name, which contains the retirement id and the hash. */
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
}

/** A file without a row that is older than this is an orphan: its writer would have entered the row by then. */
export const ORPHAN_AGE_MS = 24 * 60 * 60_000;

/** A range of time in epoch milliseconds, from `from` until just before `to`. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** Stores the PDFs of certificates. A stored PDF is always complete, flushed to disk and named by its hash. */
export interface PdfStore {
  /** Removes files that a crash left half-written. Call it before the first `save`. */
  readonly prepare: () => Promise<void>;
  /** Stores the body if it is a whole PDF. Equal content gives the same file; other files are never overwritten. */
  readonly save: (retirementId: string, body: AsyncIterable<Uint8Array>) => Promise<CertificateFile>;
  /** Returns the file's present bytes without checking its hash. Returns null if there is no file with this name. */
  readonly open: (file: string) => Promise<AsyncIterable<Uint8Array> | null>;
  /** Yields the names of all files, or of those written in a time window, in small batches. */
  readonly list: (writtenIn: TimeWindow | null) => AsyncIterable<readonly string[]>;
  /** Makes earlier removals survive a power failure. */
  readonly flush: () => Promise<void>;
}
