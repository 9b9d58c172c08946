import { expect, test } from 'vitest';
import { PageDigests } from '../../src/mirror/list/page-digests.js';
import { groupOf, pageOf, retirements } from '../support/mirror/rows.js';

const NO_PRINTS = { there: 0, added: 0 };
const ONE = pageOf(retirements(10), 0);
const OTHER = pageOf(retirements(10, 'x'), 0);

function readAfter(pageDigests: string | null | undefined, ...pages: (typeof ONE)[]): PageDigests {
  const before = { outcome: 'complete', isBroken: false, pageDigests: pageDigests ?? null } as const;
  const digests = new PageDigests(before, false);
  for (const page of pages) digests.take(page);
  return digests;
}

test('a list is quiet where the same pages came, in whatever order', () => {
  const seen = readAfter(null, ONE, OTHER).seen(NO_PRINTS);
  expect(readAfter(seen, OTHER, ONE).isQuiet).toBe(true);
  expect(readAfter(seen, ONE).isQuiet).toBe(false);
  expect(readAfter(null).isQuiet).toBe(false);
});

test('one page is remembered, and none is not', () => {
  expect(readAfter(null).seen(NO_PRINTS)).toBeNull();
  const seen = readAfter(null, ONE).seen(NO_PRINTS);
  expect(seen).not.toBeNull();
  expect(readAfter(seen, ONE).seen(NO_PRINTS)).toBeUndefined();
});

test('a page is visited unless each group of its rows was passed', () => {
  const known = { ...ONE, known: [groupOf(retirements(10))], unknown: [] };
  const half = { ...known, unknown: [groupOf(retirements(10, 'x'))] };
  const empty = { ...ONE, known: [], unknown: [] };
  expect([ONE, half, empty, known].map(page => readAfter(null, page).visited)).toEqual([1, 1, 1, 0]);
});
