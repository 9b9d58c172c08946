import { createHash, type Hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../../folder.js';
import type { PdfStore } from '../../mirror/pdf-store.js';
import { demandNotInterrupted, usageFault } from '../exit.js';

const PRIVATE_FILE = 0o600;
const SUMS = 'SHA256SUMS';

/** A new folder for somebody else. SHA256SUMS is written last: where it is there, the folder is whole. */
export function createSummedFolder(folder: string, interrupted: AbortSignal) {
  makeEmptyFolder(folder);
  const hashes = new Map<string, Hash>();

  function append(file: string, data: string | Uint8Array): void {
    demandNotInterrupted(interrupted, `Interrupted: ${folder} is not complete, it has no ${SUMS}.`);
    const path = join(folder, file);
    const known = hashes.get(file);
    if (known === undefined) mkdirSync(dirname(path), { mode: 0o700, recursive: true });
    writeFileSync(path, data, { flag: known === undefined ? 'wx' : 'a', mode: PRIVATE_FILE });
    hashes.set(file, (known ?? createHash('sha256')).update(data));
  }

  const sha256Of = (file: string) => hashes.get(file)?.copy().digest('hex') ?? '';
  return {
    append,
    sha256Of,
    has: (file: string) => hashes.has(file),
    /** Whether it was still what its row says. One that is not is left out: no auditor is handed it. */
    async copy(pdfs: PdfStore, stored: string, file: string, sha256: string): Promise<boolean> {
      append(file, '');
      for await (const chunk of (await pdfs.open(stored)) ?? []) append(file, chunk);
      if (sha256Of(file) === sha256) return true;
      rmSync(join(folder, file));
      hashes.delete(file);
      return false;
    },
    /** Answers how many files there are beside the sums. */
    finish(): number {
      const sums = [...hashes.keys()].map(file => `${sha256Of(file)}  ${file}\n`).join('');
      writeFileSync(join(folder, SUMS), sums, { flag: 'wx', mode: PRIVATE_FILE, flush: true });
      return hashes.size;
    },
  };
}

function makeEmptyFolder(folder: string): void {
  if (!existsSync(folder)) return makePrivateFolder(folder);
  if (statSync(folder).isDirectory() && readdirSync(folder).length === 0) return;
  throw usageFault(
    `${folder} is there already and not an empty folder.`,
    'Name a new folder: an export never overwrites anything.',
  );
}
