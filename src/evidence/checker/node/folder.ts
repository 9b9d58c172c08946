import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import type { EvidenceFile, FolderFiles } from '../folder-files.js';

/** Lists all files in a folder and its subfolders. Links, pipes and devices are listed with a `problem`, and never opened. */
export async function listFolder(folder: string): Promise<FolderFiles> {
  const files = new Map<string, EvidenceFile>();
  /** Adds the files of a subfolder. `prefix` is its path with a slash at the end. */
  async function addFiles(prefix: string): Promise<void> {
    for (const entry of await readdir(`${folder}/${prefix}`, { withFileTypes: true })) {
      const name = `${prefix}${entry.name}`;
      if (entry.isDirectory()) await addFiles(`${name}/`);
      else if (entry.isFile()) files.set(name, await createEvidenceFile(`${folder}/${name}`));
      else files.set(name, { size: 0, problem: 'a link, a pipe or a device', read: refuseToRead });
    }
  }
  await addFiles('');
  return files;
}

/** The `read` of a file that must not be opened: always throws. */
async function refuseToRead(): Promise<never> {
  throw new Error('expected a plain file');
}

/** Creates the entry of a plain file in `FolderFiles`: its size, and a function that reads it. */
async function createEvidenceFile(path: string): Promise<EvidenceFile> {
  const { size } = await lstat(path);
  return { size, read: () => readPlainFile(path, size) };
}

/**
 * Reads a file without following a link. Reads one byte more than `size`, if the file has it, and then stops. With this byte, the caller
 * notices that the file has grown. The limit also stops the reading of a file that never ends.
 */
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
