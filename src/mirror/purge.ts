import { MirrorError } from './errors.js';
import type { Purge } from './mirror.js';
import { retirementOf } from './certificates/file-name.js';
import type { PdfStore } from './pdf-store.js';
import type { MirrorPort, PurgeResult } from './port.js';

const FILES_AT_ONCE = 64;

/** Who is killed and asked again finds the files by the retirements, which go after them. */
export async function purge(
  port: MirrorPort,
  { organizationId, takeClaim, pdfs }: Purge,
): Promise<PurgeResult> {
  const { last, retirementIds } = await port.beginPurge(organizationId, await takeClaim());
  const files = await filesOf(pdfs, new Set(retirementIds));
  await all(() => port.removeRows({ organizationId, last, which: 'certificates' }));
  let removed = 0;
  for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
    removed += await port.removeUnnamedFiles(files.slice(from, from + FILES_AT_ONCE));
  }
  await pdfs.flush();
  await all(() => port.removeRows({ organizationId, last, which: 'lists' }));
  for (;;) {
    const end = await endBefore(port, organizationId, last, await takeClaim());
    if (end !== null) return { files: removed + end.files, installations: end.installations };
  }
}

/** Damaged ones too. */
async function filesOf(pdfs: Pick<PdfStore, 'list'>, retirementIds: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const files of pdfs.list(null)) {
    found.push(...files.filter(file => retirementIds.has(retirementOf(file) ?? '')));
  }
  return found;
}

async function all(some: () => Promise<number>): Promise<void> {
  while ((await some()) > 0);
}

/** Null where a claim that was given out since was the first to write. */
async function endBefore(
  port: MirrorPort,
  organizationId: string,
  last: number,
  claim: number,
): Promise<PurgeResult | null> {
  try {
    return await port.endPurge(organizationId, last, claim);
  } catch (error) {
    if (error instanceof MirrorError && error.code === 'fenced') return null;
    throw error;
  }
}
