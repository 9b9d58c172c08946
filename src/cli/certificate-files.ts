import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, existsSync, openSync, rmSync } from 'node:fs';
import type { PdfStore } from '../mirror/certificates/pdf-store.js';
import { isFileReferenced, readStoredFiles, type StoredFile } from '../query/certificates.js';
import type { Reader } from '../store/contract/reader.js';
import { createCheckError, createUsageError } from './command-error.js';

/** Checks the size and SHA-256 of every stored certificate PDF and returns the faulty files. */
export async function verifyCertificateFiles(reader: Reader, pdfs: PdfStore) {
  const faults: { readonly file: string; readonly fault: string }[] = [];
  const checked = new Set<string>();
  /** Hashing takes long, so all rows are read first and no query stays open meanwhile. */
  for (const stored of await readStoredFiles(reader)) {
    checked.add(stored.file);
    const fault = await findFileFault(pdfs, stored);
    if (fault !== null && (await isFileReferenced(reader, stored.file)))
      faults.push({ file: stored.file, fault });
  }
  return { checked: checked.size, faults };
}

/** Returns what is wrong with a stored file: `missing`, `changed` or `unreadable` with an error code. Returns null if nothing is wrong. */
async function findFileFault(pdfs: PdfStore, { file, sha256, size }: StoredFile): Promise<string | null> {
  try {
    const current = await measureFile(pdfs, file);
    if (current === null) return 'missing';
    return current.sha256 === sha256 && current.size === size ? null : 'changed';
  } catch (error) {
    return `unreadable (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'})`;
  }
}

/** Returns the SHA-256 and size of a stored certificate file. Returns null if the file is missing. */
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

interface CertificateCopy {
  /** The stored file. */
  readonly file: string;
  readonly sha256: string;
  /** The file to write. */
  readonly path: string;
}

/** Copies a stored certificate to a new file. If the stored PDF is missing or has changed, throws and leaves no new file. */
export async function saveCertificate(
  pdfs: PdfStore,
  { file, sha256, path }: CertificateCopy,
): Promise<void> {
  if (existsSync(path))
    throw createUsageError(`${path} already exists.`, 'Remove it, or name another folder with --folder.');
  const body = await pdfs.open(file);
  const target = openSync(path, 'wx', 0o600);
  const hash = createHash('sha256');
  try {
    for await (const chunk of body ?? []) {
      appendFileSync(target, chunk);
      hash.update(chunk);
    }
  } finally {
    closeSync(target);
  }
  if (hash.digest('hex') === sha256) return;
  rmSync(path);
  throw createCheckError(
    `The stored certificate ${file} is ${body === null ? 'missing' : 'not the one that was downloaded'}.`,
    'See "carbon-mirror verify".',
  );
}
