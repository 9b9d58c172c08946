import { type TestMirror, MINUTE, TRAFFIC } from './mirror/open.js';
import { credit } from './mirror/rows.js';

type FencedScene = Pick<TestMirror, 'mirror' | 'clock' | 'db'>;

export const beginWarehouseRead = ({ mirror, clock }: FencedScene, claim: number) =>
  mirror.beginRead({
    organizationId: 'organization-1',
    resource: 'warehouse',
    claim,
    startedAt: clock.at,
    trigger: 'delivery',
  });

const FINISH = { ...TRAFFIC, total: null };
export const listCreditIds = ({ db }: FencedScene) =>
  db.column<string>('SELECT credit_id FROM warehouse_credits ORDER BY 1');

/** Writes as a worker that lost its lease during a read, after another worker has read and written. Returns the credit ids. */
export async function writeAfterBeingTakenOver(scene: FencedScene): Promise<string[]> {
  const staleRead = await beginWarehouseRead(scene, 1);
  await staleRead.writeBatch([credit('old')], scene.clock.at);
  scene.clock.at += MINUTE;
  await scene.mirror.raiseFence({ organizationId: 'organization-1', part: 'data', claim: 2 });
  const newerRead = await beginWarehouseRead(scene, 2);
  await newerRead.writeBatch([credit('new')], scene.clock.at);
  await newerRead.finish(FINISH);
  await staleRead.finish(FINISH).catch(() => undefined);
  return listCreditIds(scene);
}

/** Uninstalls the app during a read, and finishes the read. Returns the credit ids. */
export async function writeAfterUninstalling(scene: FencedScene): Promise<string[]> {
  const read = await beginWarehouseRead(scene, 2);
  await read.writeBatch([credit('late')], scene.clock.at);
  await scene.mirror.writeInstallation({
    installationId: 'installation-1',
    state: 'uninstalled',
    claim: 2,
    startedAt: scene.clock.at,
    arrivedAt: scene.clock.at,
    trigger: 'delivery',
  });
  await read.finish(FINISH).catch(() => undefined);
  return listCreditIds(scene);
}
