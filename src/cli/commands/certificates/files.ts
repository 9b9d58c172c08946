import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reader } from '../../../engines/contract/reader.js';
import { isNamed, readStoredFiles, type StoredFile } from '../../../query/certificates.js';
import type { PdfStore } from '../../../mirror/pdf-store.js';
import { demandNotInterrupted } from '../../exit.js';

interface FileFault {
  readonly organization_id: string;
  readonly retirement_id: string;
  readonly file: string;
  readonly fault: 'missing' | 'changed' | 'unreadable';
  readonly expected: string;
  readonly found: string | null;
}

export const FAULT_COLUMNS = ['organization_id', 'retirement_id', 'file', 'fault', 'expected', 'found'];

export interface FilesVerified {
  readonly checked: number;
  readonly bytes: number;
  readonly faults: readonly FileFault[];
  /** Files that no row names, such as one whose row was about to be written in a crash. */
  readonly unnamed: readonly string[];
}

const PRIVATE_FILE = 0o600;

/** Hash every stored file again and hold it against its row. */
export async function verifyFiles(
  reader: Reader,
  pdfs: PdfStore,
  organizationId: string | null,
  interrupted: AbortSignal,
): Promise<FilesVerified> {
  const faults: FileFault[] = [];
  const named = new Set<string>();
  let bytes = 0;
  for (const stored of await listOf(readStoredFiles(reader, organizationId))) {
    demandNotInterrupted(interrupted);
    named.add(stored.file);
    const fault = await verifyFile(pdfs, stored);
    if (fault === null) bytes += stored.size;
    else if (await isNamed(reader, stored.file)) faults.push(fault);
  }
  const unnamed = organizationId === null ? await findUnnamed(reader, pdfs, named) : [];
  return { checked: named.size, bytes, faults, unnamed };
}

async function findUnnamed(reader: Reader, pdfs: PdfStore, named: ReadonlySet<string>): Promise<string[]> {
  const unnamed: string[] = [];
  for await (const files of pdfs.list(null)) {
    for (const file of files) {
      if (!file.endsWith('.pdf') || named.has(file) || (await isNamed(reader, file))) continue;
      unnamed.push(file);
    }
  }
  return unnamed;
}

/** What is hashed takes long: no question is left open meanwhile. */
async function listOf<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

async function verifyFile(pdfs: PdfStore, stored: StoredFile): Promise<FileFault | null> {
  const { file, sha256 } = stored;
  const fault = (what: FileFault['fault'], found: string | null): FileFault => ({
    organization_id: stored.organizationId,
    retirement_id: stored.retirementId,
    file,
    fault: what,
    expected: sha256,
    found,
  });
  try {
    const found = await measure(pdfs, file);
    if (found === null) return fault('missing', null);
    if (found.sha256 !== sha256) return fault('changed', found.sha256);
    const { size } = found;
    return size === stored.size ? null : fault('changed', `${size} bytes, where its row says ${stored.size}`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return fault('unreadable', code);
  }
}

/** A file as it is now; null where it is not there. */
export async function measure(
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

/**
 * Copy a certificate into a folder and answer the hash of what was written, so that a damaged one is found on the way;
 * null where it is not there.
 */
export async function copyFile(pdfs: PdfStore, file: string, folder: string): Promise<string | null> {
  const body = await pdfs.open(file);
  if (body === null) return null;
  const hash = createHash('sha256');
  const target = await open(join(folder, file), 'wx', PRIVATE_FILE);
  try {
    for await (const chunk of body) {
      hash.update(chunk);
      await target.writeFile(chunk);
    }
  } finally {
    await target.close();
  }
  return hash.digest('hex');
}
