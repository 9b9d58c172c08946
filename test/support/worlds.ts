import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { chooseTestRoot } from './memory.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the demo worlds of a run, each of which is mirrored once. */
    worlds: string;
  }
}

export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(chooseTestRoot(2 ** 30), 'carbon-mirror-worlds-'));
  project.provide('worlds', folder);
  return () => rmSync(folder, { recursive: true });
}
