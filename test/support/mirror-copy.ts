import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { copyDatabases, type Tables, openTablesIn } from './tables.js';
import { makeFolder } from './folder.js';

export interface MirrorCopy extends Tables {
  readonly folder: string;
}

/** Both databases of a folder, copied into one where no program is at work. It is gone after the test. */
export function copyMirror(from: string): MirrorCopy {
  const folder = makeFolder('carbon-mirror-copy-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  copyDatabases(from, folder);
  return { folder, ...openTablesIn(folder) };
}
