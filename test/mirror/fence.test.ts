import { expect, test } from 'vitest';
import { writeAfterBeingTakenOver, writeAfterUninstalling } from '../support/fenced.js';
import { openMirror } from '../support/mirror/open.js';
import { brokenMirror } from '../support/mutant.js';

test('T44 it would, were the fence broken', async () => {
  const create = await brokenMirror('store/mirror/fence.js', 'seen.claim > claim', 'false');
  expect(await writeAfterBeingTakenOver(await openMirror({ create }))).toContain('old');
});

test('T44 it would, were the read of the installation broken', async () => {
  const create = await brokenMirror(
    'store/mirror/syncs.js',
    "installations.every(({ state }) => state !== 'active')",
    'false',
  );
  expect(await writeAfterUninstalling(await openMirror({ create }))).toEqual(['late']);
});
