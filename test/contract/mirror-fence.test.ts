import { describe, expect, test } from 'vitest';
import { ENGINES, type Stage } from '../support/engines.js';
import { credit, MINUTE, TRAFFIC } from '../support/mirror.js';

const begin = ({ mirror, clock }: Stage, claim: number) =>
  mirror.beginRead({
    organizationId: 'organization-1',
    resource: 'warehouse',
    claim,
    startedAt: clock.at,
    trigger: 'delivery',
  });

const finish = { ...TRAFFIC, total: null };
const inMirror = ({ db }: Stage) => db.column<string>('SELECT credit_id FROM warehouse_credits ORDER BY 1');

/** A worker loses its lease while it reads; another one takes over, reads later and writes first. */
async function writeAfterBeingTakenOver(scene: Stage): Promise<string[]> {
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
async function writeAfterUninstalling(scene: Stage): Promise<string[]> {
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

describe.each(ENGINES)('$name', ({ stage }) => {
  test('T44 a read that was taken over cannot write any more', async () => {
    expect(await writeAfterBeingTakenOver(await stage())).toEqual(['new']);
  });

  test('T44 a read writes nothing after its organization has uninstalled or was suspended', async () => {
    expect(await writeAfterUninstalling(await stage())).toEqual([]);
  });

  test('T44 the refusal names its reason, and the run that was cut off says so', async () => {
    const scene = await stage();
    const read = await begin(scene, 1);
    const credits = Array.from({ length: 1_200 }, (_, index) => credit(`c-${index}`));
    await read.writeBatch(credits, scene.clock.at);
    await scene.mirror.raiseFence({ organizationId: 'organization-1', lane: 'data', claim: 2 });
    expect(await scene.db.column("SELECT error_code FROM sync_runs WHERE resource = 'warehouse'")).toEqual([
      'interrupted',
    ]);
    await expect(read.finish(finish)).rejects.toMatchObject({ code: 'fenced' });
    await read.abandon({ code: 'fenced', message: 'taken over' }, TRAFFIC);
    expect(
      await scene.db.rows("SELECT state, error_code FROM sync_runs WHERE resource = 'warehouse'"),
    ).toEqual([{ state: 'failed', error_code: 'fenced' }]);
    await expect(read.writeBatch([], scene.clock.at)).rejects.toMatchObject({ code: 'ended' });
  });

  test('the two lanes of an organization do not fence each other, nor do organizations', async () => {
    const { mirror } = await stage();
    await mirror.raiseFence({ organizationId: 'organization-1', lane: 'certificates', claim: 7 });
    await mirror.raiseFence({ organizationId: 'organization-2', lane: 'data', claim: 9 });
    await mirror.raiseFence({ organizationId: 'organization-1', lane: 'data', claim: 5 });
    expect(await mirror.highestClaim()).toBe(9);
  });

  test('an older read of the same claim does not overwrite a newer one', async () => {
    const scene = await stage();
    const older = await begin(scene, 1);
    await older.writeBatch([credit('old')], scene.clock.at);
    scene.clock.at += MINUTE;
    const newer = await begin(scene, 1);
    await newer.writeBatch([credit('new')], scene.clock.at);
    await newer.finish(finish);
    await expect(older.finish(finish)).rejects.toMatchObject({ code: 'stale_read' });
    expect(await inMirror(scene)).toEqual(['new']);
  });
});
