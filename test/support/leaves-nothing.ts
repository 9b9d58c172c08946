import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, vi } from 'vitest';

/** Test files share a process, so each file must leave it unchanged. */
const environment = { ...process.env };
const { fetch } = globalThis;

/** Commands without settings use the working directory, so tests run in an empty folder instead of the checkout. */
const checkout = process.cwd();
const emptyFolder = mkdtempSync(join(tmpdir(), 'carbon-mirror-nowhere-'));
process.chdir(emptyFolder);

/** Only data may go to stdout. Kysely, for example, prints deprecations there with `console.log`. */
const { log } = console;
const printed: unknown[][] = [];
console.log = (...values: unknown[]) => {
  printed.push(values);
  log(...values);
};

afterAll(() => {
  console.log = log;
  expect(printed).toEqual([]);
  process.chdir(checkout);
  expect(readdirSync(emptyFolder)).toEqual([]);
  rmdirSync(emptyFolder);
  expect(vi.isFakeTimers()).toBe(false);
  expect({ ...process.env }).toEqual(environment);
  expect(globalThis.fetch).toBe(fetch);
});
