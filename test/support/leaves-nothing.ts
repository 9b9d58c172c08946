import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, vi } from 'vitest';

/** Laws share a process: each file leaves it as it was for the next one. */
const environment = { ...process.env };
const { fetch } = globalThis;

/** A command without settings looks where it is started: no test sees or touches what lies in the checkout. */
const checkout = process.cwd();
const nowhere = mkdtempSync(join(tmpdir(), 'carbon-mirror-nowhere-'));
process.chdir(nowhere);

afterAll(() => {
  process.chdir(checkout);
  expect(readdirSync(nowhere)).toEqual([]);
  rmdirSync(nowhere);
  expect(vi.isFakeTimers()).toBe(false);
  expect({ ...process.env }).toEqual(environment);
  expect(globalThis.fetch).toBe(fetch);
});
