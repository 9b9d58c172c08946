import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { rootWith } from './memory.js';

/** In memory a flush to disk waits for nothing. That there is one is held by tests that look for it, not by its duration. */
const root = rootWith(4 * 2 ** 30);

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
