import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { chmod, mkdir, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isId } from '../../registry/model.js';
import { MirrorError } from '../errors.js';
import type { CertificateFile } from '../port.js';
import { shareNext } from './share-next.js';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const HEAD = '%PDF';
const TAIL = '%%EOF';
/** A PDF may carry a few line ends or a note after its last marker. */
const TAIL_WITHIN_BYTES = 1_024;
const DEFAULT_MAX_BYTES = 20 * 1024 * 1024;
export const LEFTOVER_AFTER_MS = 24 * 60 * 60_000;
/** Enough for chance, not for somebody who tries: names now hold the whole hash. */
const OLDER_HASH_DIGITS = 12;
const FILE = /^(.+)-(?:[0-9a-f]{64}|[0-9a-f]{12})\.pdf(?:\.[0-9a-f-]{36}\.damaged)?$/;
const WHOLE = /-(?:[0-9a-f]{64}|[0-9a-f]{12})\.pdf$/;
const LOOKED_AT_ONCE = 64;
const PART = /^\.(\d+)-[0-9a-f-]{36}\.part$/;

/** The folder of certificate files. A file is either whole, flushed and named by its hash, or not there. */
export interface CertificateFolder {
  /** Makes the folder, and removes what a crash left half-written. */
  open(): Promise<void>;
  /** Stores a file if it is a whole PDF; the same content again is the same file. */
  save(retirementId: string, body: AsyncIterable<Uint8Array>): Promise<CertificateFile>;
  /** Every file of these retirements, damaged ones included. */
  filesOf(retirementIds: ReadonlySet<string>): Promise<string[]>;
  /** Files that were written in a stretch of time, a few at a time; damaged ones and parts are none of them. */
  writtenBetween(from: number, to: number): AsyncGenerator<string[]>;
  /** Makes removals survive a power cut. */
  flush(): Promise<void>;
}

interface Identity {
  readonly retirementId: string;
  readonly sha256: string;
}

export interface FolderOptions {
  readonly now: () => number;
  readonly maxBytes?: number;
  /** Makes the names in a folder survive a power cut. */
  readonly flushNames?: (folder: string) => Promise<void>;
}

export function createCertificateFolder(
  folder: string,
  { now, maxBytes = DEFAULT_MAX_BYTES, flushNames = flushFolder }: FolderOptions,
): CertificateFolder {
  const flush = shareNext(() => flushNames(folder));
  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
      await chmod(folder, PRIVATE_FOLDER);
      for (const name of await readdir(folder)) {
        if (await isLeftover(folder, name, now())) await rm(join(folder, name), { force: true });
      }
    },
    save: async (retirementId, body) => {
      if (!isId(retirementId)) throw new TypeError('expected the id of a retirement');
      const part = join(folder, `.${process.pid}-${randomUUID()}.part`);
      try {
        const written = await writePart(part, body, maxBytes);
        const file = await place(folder, part, { retirementId, sha256: written.sha256 });
        await flush();
        return { file, ...written };
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    },
    filesOf: async retirementIds => {
      if (!existsSync(folder)) return [];
      return (await readdir(folder)).filter(name => retirementIds.has(FILE.exec(name)?.[1] ?? ''));
    },
    writtenBetween: (from, to) => writtenBetween(folder, from, to),
    flush: async () => {
      if (existsSync(folder)) await flush();
    },
  };
}

async function writePart(
  part: string,
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256');
  const file = await open(part, 'wx', PRIVATE_FILE);
  let size = 0;
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) throw new MirrorError('certificate_too_large', `more than ${maxBytes} bytes`);
      if (head.length < HEAD.length) head = Buffer.concat([head, chunk]).subarray(0, HEAD.length);
      tail = Buffer.concat([tail, chunk.subarray(-TAIL_WITHIN_BYTES)]).subarray(-TAIL_WITHIN_BYTES);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    demandPdf(size, head, tail);
    await file.sync();
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), size };
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

/**
 * Answers the name it has: what is there already keeps its own, also one with a part of the hash from an older program.
 * Nothing is ever written over: what is not what its name says was damaged on disk, and is moved aside.
 */
async function place(folder: string, part: string, { retirementId, sha256 }: Identity): Promise<string> {
  const name = `${retirementId}-${sha256}.pdf`;
  for (const there of [name, `${retirementId}-${sha256.slice(0, OLDER_HASH_DIGITS)}.pdf`]) {
    if ((await hashOf(join(folder, there))) !== sha256) continue;
    await rm(part);
    return there;
  }
  if (existsSync(join(folder, name))) {
    await rename(join(folder, name), join(folder, `${name}.${randomUUID()}.damaged`));
  }
  await rename(part, join(folder, name));
  return name;
}

async function* writtenBetween(folder: string, from: number, to: number): AsyncGenerator<string[]> {
  let files: string[] = [];
  for await (const { name } of await opendir(folder)) {
    if (!WHOLE.test(name)) continue;
    const written = (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? 0;
    if (written >= from && written < to) files.push(name);
    if (files.length < LOOKED_AT_ONCE) continue;
    yield files;
    files = [];
  }
  yield files;
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
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return null;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

/** Another worker may be writing a part right now: only what nobody writes any more is removed. */
async function isLeftover(folder: string, name: string, now: number): Promise<boolean> {
  const owner = Number(PART.exec(name)?.[1]);
  if (Number.isNaN(owner)) return false;
  if (owner !== process.pid && !isRunning(owner)) return true;
  const file = await stat(join(folder, name)).catch(() => null);
  return file !== null && now - file.mtimeMs > LEFTOVER_AFTER_MS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
