import { createHash, type Hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPrivateFolder } from '../../folder.js';
import type { PdfStore } from '../../mirror/certificates/pdf-store.js';
import { throwIfInterrupted, createUsageError } from '../command-error.js';

const PRIVATE_FILE = 0o600;
const SUMS_FILE = 'SHA256SUMS';

/**
 * Creates a folder and returns functions that write exported files into the folder. The caller must write `lastFile`
 * last: without that file, the folder is incomplete.
 */
export function createExportFolder(folder: string, interrupted: AbortSignal, lastFile = SUMS_FILE) {
  createEmptyFolder(folder);
  const hashes = new Map<string, Hash>();

  /** Appends data to a file in the folder. Creates the file if it does not exist. */
  function append(file: string, data: string | Uint8Array): void {
    throwIfInterrupted(interrupted, `Interrupted: ${folder} is incomplete and has no ${lastFile}.`);
    const path = join(folder, file);
    const hash = hashes.get(file);
    if (hash === undefined) mkdirSync(dirname(path), { mode: 0o700, recursive: true });
    writeFileSync(path, data, { flag: hash === undefined ? 'wx' : 'a', mode: PRIVATE_FILE });
    hashes.set(file, (hash ?? createHash('sha256')).update(data));
  }

  const getSha256 = (file: string) => hashes.get(file)?.copy().digest('hex') ?? '';
  return {
    append,
    hasFile: (file: string) => hashes.has(file),
    /** Copies a stored PDF into the folder. If the SHA-256 is wrong, deletes the copy and returns false. */
    async copyPdf(pdfs: PdfStore, storedFile: string, file: string, sha256: string): Promise<boolean> {
      append(file, '');
      for await (const chunk of (await pdfs.open(storedFile)) ?? []) append(file, chunk);
      if (getSha256(file) === sha256) return true;
      rmSync(join(folder, file));
      hashes.delete(file);
      return false;
    },
    /** Writes the file SHA256SUMS with the checksum of every exported file. Returns the number of these files. */
    writeChecksums(): number {
      const sums = [...hashes.keys()].map(file => `${getSha256(file)}  ${file}\n`).join('');
      writeFileSync(join(folder, SUMS_FILE), sums, { flag: 'wx', mode: PRIVATE_FILE, flush: true });
      return hashes.size;
    },
  };
}

/** Creates a private folder or accepts an empty one. Throws if the folder has files. */
function createEmptyFolder(folder: string): void {
  if (!existsSync(folder)) return createPrivateFolder(folder);
  if (statSync(folder).isDirectory() && readdirSync(folder).length === 0) return;
  throw createUsageError(
    `${folder} already exists and is not an empty folder.`,
    'Choose a new folder: an export never overwrites anything.',
  );
}
