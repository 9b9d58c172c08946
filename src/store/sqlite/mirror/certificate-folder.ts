import { createHash, randomUUID } from 'node:crypto';
import { constants, existsSync, rmSync } from 'node:fs';
import { chmod, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createPrivateFolder } from '../../../folder.js';
import { coalesce } from '../../../text/coalesce.js';
import {
  validateRetirementId,
  formatCertificateFileName,
  formatLegacyFileName,
  parseRetirementId,
} from '../../../mirror/certificates/certificate-file-name.js';
import { createPdfValidator, MAX_PDF_BYTES } from '../../../mirror/certificates/pdf.js';
import { ORPHAN_AGE_MS, type PdfStore, type TimeWindow } from '../../../mirror/certificates/pdf-store.js';
import type { CertificateFiles } from '../../mirror/certificates.js';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** The number of file names that `list` yields at a time. */
const LIST_SIZE = 64;
const PARTIAL_FILE = /^\.(\d+)-[0-9a-f-]{36}\.part$/;

/** The parts of the name of a certificate file. */
interface FileIdentity {
  readonly retirementId: string;
  readonly sha256: string;
}

/** The clock and the size limit of the PDFs, and how a folder is flushed. */
export interface FolderOptions {
  readonly now: () => number;
  readonly maxBytes?: number;
  /** Flushes a folder, so that the names in it survive a power cut. */
  readonly syncFolder?: (folder: string) => Promise<void>;
}

/** Creates a PDF store in a folder. A file gets its final name after it is complete and flushed. */
export function createCertificateFolder(
  folder: string,
  { now, maxBytes = MAX_PDF_BYTES, syncFolder = fsyncFolder }: FolderOptions,
): PdfStore {
  const flush = coalesce(() => syncFolder(folder));
  return {
    prepare: async () => {
      createPrivateFolder(folder);
      await chmod(folder, PRIVATE_FOLDER);
      for (const name of await readdir(folder)) {
        if (await isAbandoned(folder, name, now())) await rm(join(folder, name), { force: true });
      }
    },
    save: async (retirementId, body) => {
      validateRetirementId(retirementId);
      const partialFile = join(folder, `.${process.pid}-${randomUUID()}.part`);
      try {
        const written = await writePartialFile(partialFile, body, maxBytes);
        const file = await renameToFinalName(folder, partialFile, { retirementId, sha256: written.sha256 });
        await flush();
        return { file, ...written };
      } catch (error) {
        await rm(partialFile, { force: true });
        throw error;
      }
    },
    open: file => openCertificate(folder, file),
    list: window => listFiles(folder, window),
    flush: async () => {
      if (existsSync(folder)) await flush();
    },
  };
}

/**
 * Creates the functions with which a database transaction finds and removes the PDF files of certificates in a folder. A rollback
 * of the transaction does not restore removed files.
 */
export function createCertificateFileAccess(folder: string): CertificateFiles {
  const isStored = (file: string): boolean => existsSync(join(folder, file));
  return {
    findStored: async (_, files) => new Set(files.filter(isStored)),
    remove: async (_, files) => {
      const found = files.filter(isStored);
      for (const file of found) rmSync(join(folder, file), { force: true });
      return found.length;
    },
  };
}

/**
 * Writes a PDF to the new file `partialFile`, validates it meanwhile, and flushes the file. Returns its SHA-256 and size. Throws
 * if the PDF is not valid or exceeds `maxBytes`.
 */
async function writePartialFile(
  partialFile: string,
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ sha256: string; size: number }> {
  const validator = createPdfValidator(maxBytes);
  const file = await open(partialFile, 'wx', PRIVATE_FILE);
  try {
    for await (const chunk of body) {
      validator.addChunk(chunk);
      await file.writeFile(chunk);
    }
    const written = validator.finish();
    await file.sync();
    return written;
  } finally {
    await file.close();
  }
}

/**
 * Renames a completely written partial file to its final name, and returns that name. If the folder already has a file with the
 * same bytes, removes the partial file and returns the name of the existing file. If another file has the final name but
 * different bytes, that file is first renamed to a name that ends in `.damaged`.
 */
async function renameToFinalName(
  folder: string,
  partialFile: string,
  { retirementId, sha256 }: FileIdentity,
): Promise<string> {
  const name = formatCertificateFileName(retirementId, sha256);
  for (const existing of [name, formatLegacyFileName(retirementId, sha256)]) {
    if ((await hashFile(join(folder, existing))) !== sha256) continue;
    await rm(partialFile);
    return existing;
  }
  if (existsSync(join(folder, name))) {
    await rename(join(folder, name), join(folder, `${name}.${randomUUID()}.damaged`));
  }
  await rename(partialFile, join(folder, name));
  return name;
}

/**
 * Opens a certificate for reading. Returns null if the name has not the form of a certificate name, or if no regular file has
 * it.
 */
async function openCertificate(folder: string, file: string): Promise<AsyncIterable<Uint8Array> | null> {
  return parseRetirementId(file) === null ? null : await openRegularFile(join(folder, file));
}

/** Error codes that mean that the path is no regular file. */
const NO_FILE_CODES = ['ENOENT', 'ELOOP', 'ENXIO'];

/**
 * Opens a file for reading. Returns null unless it is a regular file: a link may lead anywhere, and a pipe or a device has no
 * end.
 */
async function openRegularFile(path: string): Promise<AsyncIterable<Uint8Array> | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file.createReadStream();
    await file.close();
    return null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_FILE_CODES.includes(String(error.code))) return null;
    throw error;
  }
}

/** Yields the names of all PDFs in a folder, in small arrays. If `window` is not null, yields only PDFs last modified in it. */
async function* listFiles(folder: string, window: TimeWindow | null): AsyncGenerator<string[]> {
  if (!existsSync(folder)) return;
  let files: string[] = [];
  for await (const { name } of await opendir(folder)) {
    if (window === null || (await wasModified(join(folder, name), window))) files.push(name);
    if (files.length < LIST_SIZE) continue;
    yield files;
    files = [];
  }
  yield files;
}

/** Returns whether a file was last modified in a time window. */
async function wasModified(file: string, { from, to }: TimeWindow): Promise<boolean> {
  const at = (await stat(file).catch(() => null))?.mtimeMs ?? 0;
  return at >= from && at < to;
}

/** Flushes a folder to disk, so that the names in it survive a power cut. */
async function fsyncFolder(folder: string): Promise<void> {
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Returns the SHA-256 of a file, or null if there is no regular file with this name. */
async function hashFile(file: string): Promise<string | null> {
  const body = await openRegularFile(file);
  if (body === null) return null;
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Returns whether a partial file can be removed, because its process has ended or the file is old. Another worker may still be
 * writing a partial file.
 */
async function isAbandoned(folder: string, name: string, now: number): Promise<boolean> {
  const owner = Number(PARTIAL_FILE.exec(name)?.[1]);
  if (Number.isNaN(owner)) return false;
  if (owner !== process.pid && !isProcessRunning(owner)) return true;
  const file = await stat(join(folder, name)).catch(() => null);
  return file !== null && now - file.mtimeMs > ORPHAN_AGE_MS;
}

/** Returns whether a process with this id exists and this process may signal it. */
function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
