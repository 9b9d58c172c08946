import { expect, test } from 'vitest';
import { brokenMirror } from '../support/mutant.js';
import { credit, MINUTE, type Scene, TRAFFIC, temporaryScene } from '../support/mirror.js';

const begin = ({ mirror, clock }: Scene, claim: number) =>
  mirror.beginRead({
    organizationId: 'organization-1',
    resource: 'warehouse',
    claim,
    startedAt: clock.at,
    trigger: 'delivery',
  });

const finish = { ...TRAFFIC, total: null };
const inMirror = ({ db }: Scene) => db.column<string>('SELECT credit_id FROM warehouse_credits ORDER BY 1');

/** A worker loses its lease while it reads; another one takes over, reads later and writes first. */
async function writeAfterBeingTakenOver(scene: Scene): Promise<string[]> {
  const late = await begin(scene, 1);
  await late.writeBatch([credit('old')], scene.clock.at);
  scene.clock.at += MINUTE;
  await scene.mirror.raiseFence({ organizationId: 'organization-1', lane: 'data', claim: 2 });
  const newer = await begin(scene, 2);
  await newer.writeBatch([credit('new')], scene.clock.at);
  await newer.finish(finish);
  await late.finish(finish).catch(() => undefined);
  return await inMirror(scene);
}

/** The organization uninstalls while a read runs. */
async function writeAfterUninstalling(scene: Scene): Promise<string[]> {
  const read = await begin(scene, 2);
  await read.writeBatch([credit('late')], scene.clock.at);
  await scene.mirror.writeInstallationState({
    installationId: 'installation-1',
    state: 'uninstalled',
    claim: 2,
    startedAt: scene.clock.at,
    arrivedAt: scene.clock.at,
    trigger: 'delivery',
  });
  await read.finish(finish).catch(() => undefined);
  return await inMirror(scene);
}

test('T44 it would, were the fence broken', async () => {
  const create = await brokenMirror('engines/sqlite/mirror/fence.js', 'seen > claim', 'false');
  expect(await writeAfterBeingTakenOver(temporaryScene({ create }))).toContain('old');
});

test('T44 it would, were the look at the installation broken', async () => {
  const create = await brokenMirror(
    'engines/sqlite/mirror/fence.js',
    'active.get(organizationId) === 0',
    'false',
  );
  expect(await writeAfterUninstalling(temporaryScene({ create }))).toEqual(['late']);
});
