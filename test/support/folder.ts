import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { chooseTestRoot } from './memory.js';

/** A folder in memory makes flushes to disk fast. Other tests check that the program flushes at all. */
const root = chooseTestRoot(4 * 2 ** 30);

/** Creates a data folder, which the caller removes. */
export function makeFolder(prefix = 'carbon-mirror-'): string {
  return mkdtempSync(join(root, prefix));
}

/** Creates a folder that is removed after the test. */
export function temporaryFolder(prefix?: string): string {
  const folder = makeFolder(prefix);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
