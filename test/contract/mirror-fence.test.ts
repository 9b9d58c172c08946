import { describe, expect, test } from 'vitest';
import { ENGINES, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { credit } from '../support/mirror/rows.js';
import {
  beginWarehouseRead,
  listCreditIds,
  writeAfterBeingTakenOver,
  writeAfterUninstalling,
} from '../support/fenced-writes.js';

const finish = { ...TRAFFIC, total: null };

describe.each(ENGINES)('$name', ({ stage }) => {
  test('T44 a read that lost its claim cannot write', async () => {
    expect(await writeAfterBeingTakenOver(await stage())).toEqual(['new']);
  });

  test('T44 a read writes nothing after its organization uninstalled or was suspended', async () => {
    expect(await writeAfterUninstalling(await stage())).toEqual([]);
  });

  test('T44 a refused write names its reason, and the sync stays as the newer claim ended it', async () => {
    const scene = await stage();
    await scene.read('inventory', [credit('c-0')]);
    const read = await beginWarehouseRead(scene, 1);
    const credits = Array.from({ length: 1_200 }, (_, index) => credit(`c-${index}`));
    await read.writeBatch(credits, scene.clock.at);
    await scene.mirror.raiseFence({ organizationId: 'organization-1', part: 'data', claim: 2 });
    expect(await scene.db.column("SELECT error_code FROM syncs WHERE resource = 'warehouse'")).toEqual([
      'interrupted',
    ]);
    expect(await scene.db.column("SELECT state FROM syncs WHERE resource = 'inventory'")).toEqual([
      'complete',
    ]);
    await expect(read.finish(finish)).rejects.toMatchObject({ code: 'fenced' });
    await read.abandon({ code: 'fenced', message: 'taken over' }, TRAFFIC);
    expect(await scene.db.rows("SELECT state, error_code FROM syncs WHERE resource = 'warehouse'")).toEqual([
      { state: 'failed', error_code: 'interrupted' },
    ]);
    await expect(read.writeBatch([], scene.clock.at)).rejects.toMatchObject({ code: 'ended' });
  });

  test('parts of an organization do not fence each other, and neither do organizations', async () => {
    const { mirror } = await stage();
    await mirror.raiseFence({ organizationId: 'organization-1', part: 'certificates', claim: 7 });
    await mirror.raiseFence({ organizationId: 'organization-2', part: 'data', claim: 9 });
    await mirror.raiseFence({ organizationId: 'organization-1', part: 'data', claim: 5 });
    expect((await mirror.readMirrorState()).highestClaim).toBe(9);
  });

  test('an older read of the same claim does not overwrite a newer one', async () => {
    const scene = await stage();
    const older = await beginWarehouseRead(scene, 1);
    await older.writeBatch([credit('old')], scene.clock.at);
    scene.clock.at += MINUTE;
    const newer = await beginWarehouseRead(scene, 1);
    await newer.writeBatch([credit('new')], scene.clock.at);
    await newer.finish(finish);
    await expect(older.finish(finish)).rejects.toMatchObject({ code: 'stale_read' });
    expect(await listCreditIds(scene)).toEqual(['new']);
  });
});
