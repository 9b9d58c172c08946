import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Nobody but its owner enters. */
const PRIVATE = 0o700;

/** With all above it, each by itself: Node's call for all at once never comes back below a folder that takes none, such as /proc. */
export function createPrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: PRIVATE });
  } catch (error) {
    if (isFolder(folder)) return;
    const above = dirname(folder);
    if (above === folder || isFolder(above)) throw error;
    createPrivateFolder(above);
    createPrivateFolder(folder);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
