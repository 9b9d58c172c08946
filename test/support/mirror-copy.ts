import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { copyDatabases, type Tables, openTablesIn } from './tables.js';
import { makeFolder } from './folder.js';

export interface MirrorCopy extends Tables {
  readonly folder: string;
}

/** Copies both databases into a new folder, in which no program works. The copy is removed after the test. */
export function copyMirror(from: string): MirrorCopy {
  const folder = makeFolder('carbon-mirror-copy-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  copyDatabases(from, folder);
  return { folder, ...openTablesIn(folder) };
}
