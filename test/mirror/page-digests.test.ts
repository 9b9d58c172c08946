import { expect, test } from 'vitest';
import { PageDigests } from '../../src/mirror/list/page-digests.js';
import { createRowGroup, createUnknownPage, retirements } from '../support/mirror/rows.js';

const NO_FINGERPRINTS = { known: 0, added: 0 };
const ONE = createUnknownPage(retirements(10), 0);
const OTHER = createUnknownPage(retirements(10, 'x'), 0);

function readAfter(pageDigests: string | null | undefined, ...pages: (typeof ONE)[]): PageDigests {
  const before = { outcome: 'complete', hasOpenSync: false, pageDigests: pageDigests ?? null } as const;
  const digests = new PageDigests(before, false);
  for (const page of pages) digests.recordPage(page);
  return digests;
}

test('a list is unchanged if the same pages came, in any order', () => {
  const seen = readAfter(null, ONE, OTHER).serialize(NO_FINGERPRINTS);
  expect(readAfter(seen, OTHER, ONE).isUnchanged).toBe(true);
  expect(readAfter(seen, ONE).isUnchanged).toBe(false);
  expect(readAfter(null).isUnchanged).toBe(false);
});

test('digests are stored for a list of one page, but not for a list without pages', () => {
  expect(readAfter(null).serialize(NO_FINGERPRINTS)).toBeNull();
  const seen = readAfter(null, ONE).serialize(NO_FINGERPRINTS);
  expect(seen).not.toBeNull();
  expect(readAfter(seen, ONE).serialize(NO_FINGERPRINTS)).toBeUndefined();
});

test('a page counts as compared unless all its row groups were skipped', () => {
  const known = { ...ONE, knownGroups: [createRowGroup(retirements(10))], unknownGroups: [] };
  const half = { ...known, unknownGroups: [createRowGroup(retirements(10, 'x'))] };
  const empty = { ...ONE, knownGroups: [], unknownGroups: [] };
  expect([ONE, half, empty, known].map(page => readAfter(null, page).comparedPages)).toEqual([1, 1, 1, 0]);
});
