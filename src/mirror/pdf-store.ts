export interface CertificateFile {
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
}

/** What is older and belongs to nobody may be removed: whoever wrote it would have said so by then. */
export const LEFTOVER_AFTER_MS = 24 * 60 * 60_000;

/** Of time, in milliseconds; its end is not in it. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** Where the PDFs of certificates are kept. One is either whole, safe and named by its hash, or not there. */
export interface PdfStore {
  /** Before the first is saved: removes what a crash left half-written. */
  readonly prepare: () => Promise<void>;
  /** Stores it if it is a whole PDF; the same content again is the same file. Nothing of another name is written over. */
  readonly save: (retirementId: string, body: AsyncIterable<Uint8Array>) => Promise<CertificateFile>;
  /** Its bytes as they are now, whatever its name says; null where it is not there, and for what is no name of one. */
  readonly open: (file: string) => Promise<AsyncIterable<Uint8Array> | null>;
  /** Names of what is there, or of what was written in a stretch of time, a few at a time. */
  readonly list: (written: TimeWindow | null) => AsyncIterable<readonly string[]>;
  /** Makes removals survive a power cut. */
  readonly flush: () => Promise<void>;
}
