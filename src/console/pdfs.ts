/** A certificate's file as it is now. */
interface Inspected {
  readonly sha256: string;
}

/** The files of certificates, handed in by who knows where they are. */
export interface Pdfs {
  /** Its bytes as they are now; null where it is not there, and for what is no name of one. */
  readonly open: (file: string) => Promise<AsyncIterable<Uint8Array> | null>;
  readonly inspect: (file: string) => Promise<Inspected | null>;
}
