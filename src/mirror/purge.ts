import { MirrorError } from './mirror-error.js';
import type { PurgeRequest } from './mirror.js';
import { parseRetirementId } from './certificates/certificate-file-name.js';
import type { PdfStore } from './certificates/pdf-store.js';
import type { MirrorPort, PurgeResult } from './port/mirror-port.js';

const FILES_PER_BATCH = 64;

/**
 * Deletes all mirrored data of one organization, including its certificate files. Works in small transactions, and can be
 * repeated if it was interrupted.
 */
export async function purgeOrganization(
  port: MirrorPort,
  { organizationId, acquireClaim, pdfs }: PurgeRequest,
): Promise<PurgeResult> {
  const { lastVersion, retirementIds } = await port.beginPurge(organizationId, await acquireClaim());
  const files = await listCertificateFiles(pdfs, new Set(retirementIds));
  await repeatUntilZero(() => port.removeRows({ organizationId, last: lastVersion, kind: 'certificates' }));
  let removedFiles = 0;
  for (let start = 0; start < files.length; start += FILES_PER_BATCH) {
    removedFiles += await port.removeUnreferencedFiles(files.slice(start, start + FILES_PER_BATCH));
  }
  await pdfs.flush();
  // Retirements are deleted after the files, because a repeated purge finds the files by their retirements.
  await repeatUntilZero(() => port.removeRows({ organizationId, last: lastVersion, kind: 'lists' }));
  // Few rows are left for the last transaction, which blocks all other writers.
  for (;;) {
    const result = await tryEndPurge(port, organizationId, lastVersion, await acquireClaim());
    if (result !== null) return { ...result, removedFiles: removedFiles + result.removedFiles };
  }
}

/** Lists the PDF files of these retirements, including files that were set aside as damaged. */
async function listCertificateFiles(
  pdfs: Pick<PdfStore, 'list'>,
  retirementIds: ReadonlySet<string>,
): Promise<string[]> {
  const matching: string[] = [];
  for await (const files of pdfs.list(null)) {
    matching.push(...files.filter(file => retirementIds.has(parseRetirementId(file) ?? '')));
  }
  return matching;
}

/** Calls `removeBatch` until it returns 0. */
async function repeatUntilZero(removeBatch: () => Promise<number>): Promise<void> {
  while ((await removeBatch()) > 0);
}

/**
 * Deletes the remaining rows of an organization and ends its purge. Returns null if a job with a newer claim number has
 * written in the meantime.
 */
async function tryEndPurge(
  port: MirrorPort,
  organizationId: string,
  lastVersion: number,
  claim: number,
): Promise<PurgeResult | null> {
  try {
    return await port.endPurge(organizationId, lastVersion, claim);
  } catch (error) {
    // The caller must acquire a new claim and try again.
    if (error instanceof MirrorError && error.code === 'fenced') return null;
    throw error;
  }
}
