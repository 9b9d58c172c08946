import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import type { EvidenceFile, FolderFiles } from '../folder-files.js';

/** Lists every file below a folder. Links, pipes and devices are listed, but never opened. */
export async function listFolder(folder: string): Promise<FolderFiles> {
  const files = new Map<string, EvidenceFile>();
  async function visit(prefix: string): Promise<void> {
    for (const entry of await readdir(`${folder}/${prefix}`, { withFileTypes: true })) {
      const name = `${prefix}${entry.name}`;
      if (entry.isDirectory()) await visit(`${name}/`);
      else if (entry.isFile()) files.set(name, await describeFile(`${folder}/${name}`));
      else files.set(name, { size: 0, problem: 'a link, a pipe or a device', read: refuseToRead });
    }
  }
  await visit('');
  return files;
}

async function refuseToRead(): Promise<never> {
  throw new Error('expected a plain file');
}

async function describeFile(path: string): Promise<EvidenceFile> {
  const { size } = await lstat(path);
  return { size, read: () => readPlainFile(path, size) };
}

/** Reads at most one byte more than the expected size, so that a file that grows is noticed and an endless one ends. */
async function readPlainFile(path: string, size: number): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const bytes = new Uint8Array(size + 1);
    let length = 0;
    while (length <= size) {
      const { bytesRead } = await file.read(bytes, length, size + 1 - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}
