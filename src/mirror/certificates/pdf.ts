import { createHash } from 'node:crypto';
import { MirrorError } from '../errors.js';

const HEAD = '%PDF';
const TAIL = '%%EOF';
/** A PDF may carry a few line ends or a note after its last marker. */
const TAIL_WITHIN_BYTES = 1_024;
export const MAX_PDF_BYTES = 20 * 1024 * 1024;

export interface PdfCheck {
  /** Throws `certificate_too_large` where it is one chunk too many. */
  readonly take: (chunk: Uint8Array) => void;
  /** After the last chunk: throws a MirrorError `certificate_*` where it was not a whole PDF. */
  readonly end: () => { readonly sha256: string; readonly size: number };
}

/** Holds a PDF to what one is as it passes by; nothing of it is kept. */
export function createPdfCheck(maxBytes: number): PdfCheck {
  const hash = createHash('sha256');
  let size = 0;
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  return {
    take: chunk => {
      size += chunk.length;
      if (size > maxBytes) throw new MirrorError('certificate_too_large', `more than ${maxBytes} bytes`);
      if (head.length < HEAD.length) head = Buffer.concat([head, chunk]).subarray(0, HEAD.length);
      tail = Buffer.concat([tail, chunk.subarray(-TAIL_WITHIN_BYTES)]).subarray(-TAIL_WITHIN_BYTES);
      hash.update(chunk);
    },
    end: () => {
      demandPdf(size, head, tail);
      return { sha256: hash.digest('hex'), size };
    },
  };
}

function demandPdf(size: number, head: Buffer, tail: Buffer): void {
  if (size === 0) throw new MirrorError('certificate_empty', 'an empty file');
  if (head.toString('latin1') !== HEAD) {
    throw new MirrorError('certificate_not_pdf', `expected a file that starts with ${HEAD}`);
  }
  if (!tail.includes(TAIL)) {
    throw new MirrorError('certificate_cut_short', `expected ${TAIL} near the end of the file`);
  }
}
