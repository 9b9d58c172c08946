import { createHash } from 'node:crypto';
import type { Reader } from '../../../store/contract/reader.js';
import type { PdfStore } from '../../../mirror/pdf-store.js';
import { isNamed, readStoredFiles, type StoredFile } from '../../../query/certificates.js';
import { demandNotInterrupted } from '../../exit.js';

export const FAULT_COLUMNS = ['organization_id', 'retirement_id', 'file', 'fault', 'expected', 'found'];

/** Hash every stored file again and compare it with its row. */
export async function verifyFiles(
  reader: Reader,
  pdfs: PdfStore,
  organizationId: string | null,
  interrupted: AbortSignal,
) {
  const faults: NonNullable<Awaited<ReturnType<typeof findFault>>>[] = [];
  const named = new Set<string>();
  let bytes = 0;
  /** What is hashed takes long: no question is left open meanwhile. */
  for (const stored of await readStoredFiles(reader, organizationId)) {
    demandNotInterrupted(interrupted);
    named.add(stored.file);
    const fault = await findFault(pdfs, stored);
    if (fault === null) bytes += stored.size;
    else if (await isNamed(reader, stored.file)) faults.push(fault);
  }
  const unnamed = organizationId === null ? await findUnnamed(reader, pdfs, named) : [];
  return { checked: named.size, bytes, faults, unnamed };
}

/** Files that no row names, such as one whose row was about to be written in a crash. */
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

/** Null where it is as it was stored. */
async function findFault(pdfs: PdfStore, { file, sha256, size, ...whose }: StoredFile) {
  const fault = (what: 'missing' | 'changed' | 'unreadable', found: string | null) => ({
    organization_id: whose.organizationId,
    retirement_id: whose.retirementId,
    file,
    fault: what,
    expected: sha256,
    found,
  });
  try {
    const found = await measure(pdfs, file);
    if (found === null) return fault('missing', null);
    if (found.sha256 !== sha256) return fault('changed', found.sha256);
    if (found.size === size) return null;
    return fault('changed', `${found.size} bytes, where its row says ${size}`);
  } catch (error) {
    return fault('unreadable', error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
  }
}

/** A file as it is now; null where it is not there. Each of its pieces can be kept on the way. */
export async function measure(
  pdfs: PdfStore,
  file: string,
  keep: (chunk: Uint8Array) => Promise<void> = async () => undefined,
): Promise<{ readonly sha256: string; readonly size: number } | null> {
  const body = await pdfs.open(file);
  if (body === null) return null;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    size += chunk.length;
    await keep(chunk);
  }
  return { sha256: hash.digest('hex'), size };
}
