import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Reader } from '../../../engines/contract/reader.js';
import { isNamed, readStoredFiles, type StoredFile } from '../../../query/certificates.js';
import { findActiveContent } from './active-content.js';
import { demandNotInterrupted } from '../../exit.js';

export interface FileFault {
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
  /** Files in the folder that no row names, such as one whose row was about to be written in a crash. */
  readonly unnamed: readonly string[];
}

const PRIVATE_FILE = 0o600;

/** Hash every stored file again and hold it against its row. */
export async function verifyFiles(
  reader: Reader,
  folder: string,
  organizationId: string | null,
  interrupted: AbortSignal,
): Promise<FilesVerified> {
  const faults: FileFault[] = [];
  const named = new Set<string>();
  let bytes = 0;
  for (const stored of await listOf(readStoredFiles(reader, organizationId))) {
    demandNotInterrupted(interrupted);
    named.add(stored.file);
    const fault = await verifyFile(folder, stored);
    if (fault === null) bytes += stored.size;
    else if (await isNamed(reader, stored.file)) faults.push(fault);
  }
  const present = organizationId === null ? await readdir(folder).catch(() => []) : [];
  const unnamed: string[] = [];
  for (const file of present) {
    if (!file.endsWith('.pdf') || named.has(file) || (await isNamed(reader, file))) continue;
    unnamed.push(file);
  }
  return { checked: named.size, bytes, faults, unnamed };
}

export interface ActiveFile {
  readonly organization_id: string;
  readonly retirement_id: string;
  readonly file: string;
  readonly active_content: string;
}

export const ACTIVE_COLUMNS = ['organization_id', 'retirement_id', 'file', 'active_content'];

/** Files in which a viewer may find something to do; those that cannot be read are told of by `verifyFiles`. */
export async function findActiveFiles(
  reader: Reader,
  folder: string,
  organizationId: string | null,
  interrupted: AbortSignal,
): Promise<ActiveFile[]> {
  const active: ActiveFile[] = [];
  for (const { file, ...whose } of await listOf(readStoredFiles(reader, organizationId))) {
    demandNotInterrupted(interrupted);
    const bytes = await readFile(join(folder, basename(file))).catch(() => Buffer.alloc(0));
    const found = findActiveContent(bytes);
    if (found.length === 0) continue;
    const { organizationId: organization_id, retirementId: retirement_id } = whose;
    active.push({ organization_id, retirement_id, file, active_content: found.join(', ') });
  }
  return active;
}

/** What is hashed takes long: no question is left open meanwhile. */
async function listOf<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

async function verifyFile(folder: string, stored: StoredFile): Promise<FileFault | null> {
  const { file, sha256 } = stored;
  const fault = (what: FileFault['fault'], found: string | null): FileFault => ({
    organization_id: stored.organizationId,
    retirement_id: stored.retirementId,
    file,
    fault: what,
    expected: sha256,
    found,
  });
  if (basename(file) !== file) return fault('unreadable', 'a name that is no file of the folder');
  try {
    const found = await hashOf(join(folder, file));
    if (found !== sha256) return fault('changed', found);
    const { size } = await stat(join(folder, file));
    return size === stored.size ? null : fault('changed', `${size} bytes, where its row says ${stored.size}`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return code === 'ENOENT' ? fault('missing', null) : fault('unreadable', code);
  }
}

export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** Copy a certificate and answer the hash of what was written, so that a damaged one is found on the way. */
export async function copyFile(from: string, to: string): Promise<string> {
  const hash = createHash('sha256');
  const target = await open(to, 'wx', PRIVATE_FILE);
  try {
    for await (const chunk of createReadStream(from)) {
      hash.update(chunk);
      await target.writeFile(chunk);
    }
  } finally {
    await target.close();
  }
  return hash.digest('hex');
}
