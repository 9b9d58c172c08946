import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the browser's executable. */
    browser: string;
  }
}

/** Unpacks the browser once, into a folder of this run. Test files that unpacked it concurrently would run a half-written file. */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-browser-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    project.provide('browser', await chromium.executablePath());
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
  return () => rmSync(folder, { recursive: true, force: true });
}
