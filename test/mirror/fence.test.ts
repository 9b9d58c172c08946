import { expect, test } from 'vitest';
import { writeAfterBeingTakenOver, writeAfterUninstalling } from '../support/fenced-writes.js';
import { openMirror } from '../support/mirror/open.js';
import { createBrokenMirror } from '../support/mutant.js';

test('T44 without the fence a job that lost its claim writes', async () => {
  const create = await createBrokenMirror('store/mirror/fence.js', 'fence.claim > claim', 'false');
  expect(await writeAfterBeingTakenOver(await openMirror({ create }))).toContain('old');
});

test('T44 without the check of the installation an uninstalled organization is written', async () => {
  const create = await createBrokenMirror(
    'store/mirror/syncs.js',
    "installations.every(row => row.state !== 'active')",
    'false',
  );
  expect(await writeAfterUninstalling(await openMirror({ create }))).toEqual(['late']);
});
