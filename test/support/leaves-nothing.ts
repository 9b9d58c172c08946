import { afterAll, expect, vi } from 'vitest';

/** Laws share a process: each file leaves it as it was for the next one. */
const environment = { ...process.env };
const { fetch } = globalThis;

afterAll(() => {
  expect(vi.isFakeTimers()).toBe(false);
  expect({ ...process.env }).toEqual(environment);
  expect(globalThis.fetch).toBe(fetch);
});
