import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** In memory a flush to disk waits for nothing. That there is one is held by tests that look for it, not by its duration. */
const IN_MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;

const root = hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir();

/** A folder of one's own for data, which whoever made it removes. */
export function makeFolder(prefix = 'carbon-mirror-'): string {
  return mkdtempSync(join(root, prefix));
}

/** One that goes away with its test. */
export function temporaryFolder(prefix?: string): string {
  const folder = makeFolder(prefix);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}
