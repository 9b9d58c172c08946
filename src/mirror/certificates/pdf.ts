import { createHash } from 'node:crypto';
import { MirrorError } from '../mirror-error.js';

const START_MARKER = '%PDF';
const END_MARKER = '%%EOF';
/** The end marker must be within this many last bytes: line ends or a note may follow it. */
const MAX_BYTES_FROM_END_MARKER = 1_024;
export const MAX_PDF_BYTES = 20 * 1024 * 1024;

/** Checks and hashes one PDF, chunk by chunk. */
export interface PdfValidator {
  /** Throws `certificate_too_large` once the chunks together exceed the limit. */
  readonly addChunk: (chunk: Uint8Array) => void;
  /** Returns the hash and size of the PDF. Throws a `certificate_*` MirrorError if the PDF is incomplete or invalid. */
  readonly finish: () => { readonly sha256: string; readonly size: number };
}

/**
 * Creates a validator for one PDF, which checks and hashes the chunks in their order. It rejects a PDF of more than `maxBytes`.
 */
export function createPdfValidator(maxBytes: number): PdfValidator {
  const hash = createHash('sha256');
  let size = 0;
  let firstBytes = Buffer.alloc(0);
  let lastBytes = Buffer.alloc(0);
  return {
    addChunk: chunk => {
      size += chunk.length;
      if (size > maxBytes) throw new MirrorError('certificate_too_large', `more than ${maxBytes} bytes`);
      if (firstBytes.length < START_MARKER.length) {
        firstBytes = Buffer.concat([firstBytes, chunk]).subarray(0, START_MARKER.length);
      }
      lastBytes = Buffer.concat([lastBytes, chunk.subarray(-MAX_BYTES_FROM_END_MARKER)]);
      lastBytes = lastBytes.subarray(-MAX_BYTES_FROM_END_MARKER);
      hash.update(chunk);
    },
    finish: () => {
      assertWholePdf(size, firstBytes, lastBytes);
      return { sha256: hash.digest('hex'), size };
    },
  };
}

/** Throws a `certificate_*` error if the file is empty, is no PDF, or was cut off. */
function assertWholePdf(size: number, firstBytes: Buffer, lastBytes: Buffer): void {
  if (size === 0) throw new MirrorError('certificate_empty', 'an empty file');
  if (firstBytes.toString('latin1') !== START_MARKER) {
    throw new MirrorError('certificate_not_pdf', `expected a file that starts with ${START_MARKER}`);
  }
  if (!lastBytes.includes(END_MARKER)) {
    throw new MirrorError('certificate_cut_short', `expected ${END_MARKER} near the end of the file`);
  }
}
