import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';

/**
 * Returns the folder in which test folders are created: in memory if there is enough room, or else on disk.
 * @param {number} neededBytes
 */
export function chooseTestRoot(neededBytes) {
  return hasRoom(IN_MEMORY, neededBytes) ? IN_MEMORY : tmpdir();
}

/**
 * @param {string} folder
 * @param {number} roomBytes
 */
function hasRoom(folder, roomBytes) {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= roomBytes;
  } catch {
    return false;
  }
}
