import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Only the owner may enter. */
const OWNER_ONLY = 0o700;

/** Creates a folder that only its owner may enter. Also creates missing parent folders. */
export function createPrivateFolder(folder: string): void {
  try {
    // Not recursive: Node's recursive mkdir never returns below a folder that accepts none, such as /proc.
    mkdirSync(folder, { mode: OWNER_ONLY });
  } catch (error) {
    if (isFolder(folder)) return;
    const parent = dirname(folder);
    if (parent === folder || isFolder(parent)) throw error;
    createPrivateFolder(parent);
    createPrivateFolder(folder);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
