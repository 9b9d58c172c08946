import { createHash } from 'node:crypto';
import type { PdfStore } from '../mirror/pdf-store.js';
import { isNamed, readStoredFiles, type StoredFile } from '../query/certificates.js';
import type { Reader } from '../store/contract/reader.js';
import { throwIfInterrupted } from './exit.js';

/** Hash every stored file again and compare it with its row. */
export async function verifyCertificateFiles(reader: Reader, pdfs: PdfStore, interrupted: AbortSignal) {
  const faults: { readonly file: string; readonly fault: string }[] = [];
  const named = new Set<string>();
  /** What is hashed takes long: no question is left open meanwhile. */
  for (const stored of await readStoredFiles(reader)) {
    throwIfInterrupted(interrupted);
    named.add(stored.file);
    const fault = await findFileFault(pdfs, stored);
    if (fault !== null && (await isNamed(reader, stored.file))) faults.push({ file: stored.file, fault });
  }
  return { checked: named.size, faults };
}

/** Null where it is as it was stored. */
async function findFileFault(pdfs: PdfStore, { file, sha256, size }: StoredFile): Promise<string | null> {
  try {
    const found = await measureFile(pdfs, file);
    if (found === null) return 'missing';
    return found.sha256 === sha256 && found.size === size ? null : 'changed';
  } catch (error) {
    return `unreadable (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'})`;
  }
}

/** A file as it is now; null where it is not there. */
export async function measureFile(
  pdfs: PdfStore,
  file: string,
): Promise<{ readonly sha256: string; readonly size: number } | null> {
  const body = await pdfs.open(file);
  if (body === null) return null;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { sha256: hash.digest('hex'), size };
}
