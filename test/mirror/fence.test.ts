import { expect, test } from 'vitest';
import { writeAfterBeingTakenOver, writeAfterUninstalling } from '../support/fenced.js';
import { temporaryScene } from '../support/mirror.js';
import { brokenMirror } from '../support/mutant.js';

test('T44 it would, were the fence broken', async () => {
  const create = await brokenMirror('store/sqlite/mirror/fence.js', 'seen > claim', 'false');
  expect(await writeAfterBeingTakenOver(await temporaryScene({ create }))).toContain('old');
});

test('T44 it would, were the read of the installation broken', async () => {
  const create = await brokenMirror(
    'store/sqlite/mirror/fence.js',
    'active.get(organizationId) === 0',
    'false',
  );
  expect(await writeAfterUninstalling(await temporaryScene({ create }))).toEqual(['late']);
});
