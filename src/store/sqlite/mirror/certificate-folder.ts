import { createHash, randomUUID } from 'node:crypto';
import { constants, existsSync, rmSync } from 'node:fs';
import { chmod, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createPrivateFolder } from '../../../folder.js';
import { coalesce } from '../../../text/coalesce.js';
import {
  assertRetirementId,
  formatCertificateFileName,
  formatLegacyFileName,
  parseRetirementId,
} from '../../../mirror/certificates/certificate-file-name.js';
import { createPdfValidator, MAX_PDF_BYTES } from '../../../mirror/certificates/pdf.js';
import { ORPHAN_AGE_MS, type PdfStore, type TimeWindow } from '../../../mirror/pdf-store.js';
import type { CertificateFiles } from '../../mirror/certificates.js';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** How many file names `list` yields at a time. */
const LIST_SIZE = 64;
const PART = /^\.(\d+)-[0-9a-f-]{36}\.part$/;

/** What the name of a certificate file is made of. */
interface FileIdentity {
  readonly retirementId: string;
  readonly sha256: string;
}

export interface FolderOptions {
  readonly now: () => number;
  readonly maxBytes?: number;
  /** Flushes a folder, so that the names in it survive a power cut. */
  readonly flushNames?: (folder: string) => Promise<void>;
}

/** Stores PDFs as files in a folder. A file is complete and flushed before it gets its name. */
export function createCertificateFolder(
  folder: string,
  { now, maxBytes = MAX_PDF_BYTES, flushNames = flushFolder }: FolderOptions,
): PdfStore {
  const flush = coalesce(() => flushNames(folder));
  return {
    prepare: async () => {
      createPrivateFolder(folder);
      await chmod(folder, PRIVATE_FOLDER);
      for (const name of await readdir(folder)) {
        if (await isLeftover(folder, name, now())) await rm(join(folder, name), { force: true });
      }
    },
    save: async (retirementId, body) => {
      assertRetirementId(retirementId);
      const part = join(folder, `.${process.pid}-${randomUUID()}.part`);
      try {
        const written = await writePart(part, body, maxBytes);
        const file = await renamePart(folder, part, { retirementId, sha256: written.sha256 });
        await flush();
        return { file, ...written };
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    },
    open: file => openFile(folder, file),
    list: written => listFiles(folder, written),
    flush: async () => {
      if (existsSync(folder)) await flush();
    },
  };
}

/** Returns the files as they are used within the transactions that write rows. */
export function createCertificateFiles(folder: string): CertificateFiles {
  const has = (file: string): boolean => existsSync(join(folder, file));
  return {
    findStored: async (_, files) => new Set(files.filter(has)),
    remove: async (_, files) => {
      const found = files.filter(has);
      for (const file of found) rmSync(join(folder, file), { force: true });
      return found.length;
    },
  };
}

async function writePart(
  part: string,
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ sha256: string; size: number }> {
  const validator = createPdfValidator(maxBytes);
  const file = await open(part, 'wx', PRIVATE_FILE);
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
 * Gives a completely written file its final name and returns the name. If a file with the same bytes exists, its name is kept.
 * No file is overwritten: an existing file with other bytes is renamed.
 */
async function renamePart(
  folder: string,
  part: string,
  { retirementId, sha256 }: FileIdentity,
): Promise<string> {
  const name = formatCertificateFileName(retirementId, sha256);
  for (const existing of [name, formatLegacyFileName(retirementId, sha256)]) {
    if ((await hashOf(join(folder, existing))) !== sha256) continue;
    await rm(part);
    return existing;
  }
  if (existsSync(join(folder, name))) {
    await rename(join(folder, name), join(folder, `${name}.${randomUUID()}.damaged`));
  }
  await rename(part, join(folder, name));
  return name;
}

async function openFile(folder: string, file: string): Promise<AsyncIterable<Uint8Array> | null> {
  return parseRetirementId(file) === null ? null : await openRegularFile(join(folder, file));
}

/** Codes of errors that mean that there is no regular file. */
const NO_FILE_CODES = ['ENOENT', 'ELOOP', 'ENXIO'];

/** Returns null unless the path is a regular file: a link may lead anywhere, and a pipe or a device has no end. */
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

async function* listFiles(folder: string, written: TimeWindow | null): AsyncGenerator<string[]> {
  if (!existsSync(folder)) return;
  let files: string[] = [];
  for await (const { name } of await opendir(folder)) {
    if (written === null || (await wasWritten(join(folder, name), written))) files.push(name);
    if (files.length < LIST_SIZE) continue;
    yield files;
    files = [];
  }
  yield files;
}

async function wasWritten(file: string, { from, to }: TimeWindow): Promise<boolean> {
  const at = (await stat(file).catch(() => null))?.mtimeMs ?? 0;
  return at >= from && at < to;
}

async function flushFolder(folder: string): Promise<void> {
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function hashOf(file: string): Promise<string | null> {
  const body = await openRegularFile(file);
  if (body === null) return null;
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}

/** Whether no process writes the part any more. Another worker may be writing one right now. */
async function isLeftover(folder: string, name: string, now: number): Promise<boolean> {
  const owner = Number(PART.exec(name)?.[1]);
  if (Number.isNaN(owner)) return false;
  if (owner !== process.pid && !isRunning(owner)) return true;
  const file = await stat(join(folder, name)).catch(() => null);
  return file !== null && now - file.mtimeMs > ORPHAN_AGE_MS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
