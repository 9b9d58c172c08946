import { describe, expect, test } from 'vitest';
import {
  ENGINES,
  type TestEngine,
  type TestMirror,
  beginRead,
  MINUTE,
  TRAFFIC,
  writeInstallation,
} from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

const ORIGIN = { baseUrl: 'https://registry.example', appId: 'app-1' };

/** Starts a scene whose clock shows the present, because the view uses the real clock. */
async function startSceneToday(stage: TestEngine['stage']): Promise<TestMirror> {
  const scene = await stage();
  scene.clock.at = Date.now();
  return scene;
}

const readFreshnessState = ({ db }: TestMirror, resource: string) =>
  db.value<string>('SELECT coalesce(reason, state) AS state FROM freshness WHERE resource = ?', resource);

const beginWarehouse = async (scene: TestMirror) =>
  await beginRead(scene, 'warehouse', { trigger: 'schedule' });

async function failRead(scene: TestMirror): Promise<void> {
  const read = await beginWarehouse(scene);
  await read.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
}

describe.each(ENGINES)('$name', ({ stage }) => {
  test('T42 setting the clock forward during a read does not make the read count as long', async () => {
    const scene = await stage();
    const read = await beginWarehouse(scene);
    scene.clock.at += 8 * 60 * MINUTE;
    await read.finish({ ...TRAFFIC, total: null });
    const took = await scene.db.value("SELECT duration_ms FROM resource_states WHERE resource = 'warehouse'");
    expect(took).toBe(2 * MINUTE);
  });

  test('a resource read less often than the schedule is overdue by its own interval', async () => {
    const scene = await startSceneToday(stage);
    await scene.mirror.checkOrigin({ ...ORIGIN, scheduleSeconds: 600 });
    const read = await beginWarehouse(scene);
    await read.writeBatch([credit('c-1')], scene.clock.at);
    await read.finish({ ...TRAFFIC, total: null, everySeconds: 3_600 });
    const readBefore = async (minutes: number) => {
      const at = new Date(Date.now() - minutes * MINUTE).toISOString();
      await scene.db.change("UPDATE resource_states SET as_of = ? WHERE resource = 'warehouse'", at);
      return await readFreshnessState(scene, 'warehouse');
    };
    expect(await readBefore(110)).toBe('fresh');
    expect(await readBefore(130)).toBe('overdue');
  });

  test('T39 a resource without permission has no_access, keeps its rows, and is fresh after the next read', async () => {
    const scene = await startSceneToday(stage);
    await scene.read('warehouse', [credit('c-1')]);
    const task = { organizationId: 'organization-1', part: 'data', claim: 1 } as const;
    await scene.mirror.markAccess('no_permission', task, ['warehouse'], scene.clock.at);
    expect(await readFreshnessState(scene, 'warehouse')).toBe('no_permission');
    expect(await scene.db.value('SELECT count(*) FROM warehouse_credits')).toBe(1);
    await failRead(scene);
    expect(await readFreshnessState(scene, 'warehouse')).toBe('no_permission');
    await scene.read('warehouse', [credit('c-1')]);
    expect(await readFreshnessState(scene, 'warehouse')).toBe('fresh');
  });

  test('only credits in fresh, permitted warehouses of active installations are available', async () => {
    const scene = await startSceneToday(stage);
    const { db, mirror } = scene;
    await scene.read('warehouse', [credit('c-1'), credit('c-2'), credit('c-3', { vintage: '2020' })]);
    const sold = () => db.rows('SELECT credit_id, amount_ex_post, rows FROM available_credits ORDER BY 1');
    const known = () =>
      db.rows('SELECT freshness, reason, credit_id FROM last_known_credits ORDER BY credit_id');
    const ids = ['c-1', 'c-2', 'c-3'];
    expect(await sold()).toEqual(ids.map(id => ({ credit_id: id, amount_ex_post: 100, rows: 1 })));
    expect(await known()).toEqual([]);
    for (const state of ['suspended', 'uninstalled'] as const) {
      await mirror.writeInstallation({
        installationId: 'installation-1',
        state,
        claim: 2,
        startedAt: scene.clock.at,
        arrivedAt: scene.clock.at,
        trigger: 'delivery',
      });
      expect(await sold()).toEqual([]);
      expect(await known()).toEqual(
        ids.map(id => ({ freshness: 'no_access', reason: state, credit_id: id })),
      );
    }
    await writeInstallation(scene, 2, { organizationId: 'organization-1', claim: 3 });
    expect(await sold()).toHaveLength(ids.length);
  });

  test.each(['available_credits', 'last_known_credits'])(
    'T85 %s shows ex-post and ex-ante amounts in separate columns and never adds them',
    async view => {
      const scene = await startSceneToday(stage);
      const { db } = scene;
      const none = { exact: '0.33333333', value: 0.33333333, micro: null, fault: null };
      await scene.read('warehouse', [
        credit('c-1', { amount: amount('98.25'), type: 'exPost' }),
        credit('c-2', { amount: amount('40'), type: 'exAnte' }),
        credit('c-3', { amount: none, type: 'exPost' }),
        credit('c-4', { amount: amount('7'), type: 'exSitu' }),
        credit('c-5', { amount: amount('9'), type: null }),
      ]);
      if (view === 'last_known_credits') await db.change("UPDATE installations SET state = 'suspended'");
      expect(await db.columns(view)).not.toContain('amount');
      expect(await db.columns(view)).not.toContain('amount_micro');
      expect(
        await db.rows(`SELECT credit_id, amount_ex_post, amount_ex_post_micro, amount_ex_ante,
          amount_ex_ante_micro, rows_without_amount FROM ${view} ORDER BY credit_id`),
      ).toEqual([
        createSumsRow('c-1', { amount_ex_post: 98.25, amount_ex_post_micro: 98_250_000 }),
        createSumsRow('c-2', { amount_ex_ante: 40, amount_ex_ante_micro: 40_000_000 }),
        createSumsRow('c-3', { amount_ex_post: 0, amount_ex_post_micro: 0, rows_without_amount: 1 }),
        createSumsRow('c-4', { rows_without_amount: 1 }),
        createSumsRow('c-5', { rows_without_amount: 1 }),
      ]);
    },
  );

  test('drift counts changes of a scheduled sync that no delivery announced', async () => {
    const scene = await startSceneToday(stage);
    const by = (trigger: string, isAnnounced: boolean) => ({
      trigger,
      hasNewDelivery: async () => isAnnounced,
      limit: 10,
    });
    const drift = () => scene.db.rows('SELECT resource, drift FROM drift ORDER BY sync_id');
    await scene.read('retirements', [retirement('r-1')], by('schedule', false));
    expect(await drift()).toEqual([]);
    scene.clock.at += 1;
    await scene.read('retirements', [retirement('r-1'), retirement('r-2')], by('schedule', true));
    scene.clock.at += 1;
    await scene.read(
      'retirements',
      [retirement('r-1'), retirement('r-2', { comment: 'x' })],
      by('delivery', false),
    );
    expect(await drift()).toEqual([]);
    scene.clock.at += 1;
    const outcome = await scene.read(
      'retirements',
      [retirement('r-2'), retirement('r-3')],
      by('schedule', false),
    );
    expect(outcome).toMatchObject({ added: 1, changed: 1, removed: 1, drift: 3 });
    expect(await drift()).toEqual([{ resource: 'retirements', drift: 3 }]);
    expect(await scene.db.value("SELECT drift_total FROM freshness WHERE resource = 'retirements'")).toBe(3);
  });

  test("a read gets the previous read of its resource, and asks for deliveries since that read's start", async () => {
    const scene = await startSceneToday(stage);
    const dataAsOf = scene.clock.at;
    const request = {
      organizationId: 'organization-1',
      resource: 'warehouse',
      claim: 1,
      trigger: 'schedule',
    } as const;
    const asked: number[] = [];
    const begin = () =>
      scene.mirror.beginRead({
        ...request,
        startedAt: scene.clock.at,
        hasNewDelivery: async since => asked.push(since) > 0,
      });
    const first = await begin();
    expect(first.previousRead).toMatchObject({ attemptedAt: null, dataAsOf: null, pageSize: null });
    await first.finish({ ...TRAFFIC, total: null, pageSize: 50 });
    scene.clock.at += MINUTE;
    await (await begin()).abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
    const { previousRead: before } = await begin();
    expect(before).toMatchObject({
      attemptedAt: scene.clock.at,
      dataAsOf,
      pageSize: 50,
      hadUnexpectedFormat: false,
    });
    expect((await scene.mirror.readListStates('organization-1')).get('warehouse')).toEqual(before);
    expect(asked).toEqual([dataAsOf, dataAsOf]);
  });

  test('a reservation ends at its expiry, without any read', async () => {
    const scene = await startSceneToday(stage);
    const reservation = (id: string, end: number, over: object = {}) => ({
      id,
      creditId: 'c-1',
      serialization: null,
      type: 'exPost',
      amount: { exact: '1', value: 1, micro: 1_000_000n, fault: null },
      project: null,
      reserverId: 'app-1',
      reserverName: null,
      state: 'outstanding',
      isComplete: false,
      reservedToDate: new Date(Date.now() + end).toISOString(),
      createdAt: null,
      updatedAt: null,
      document: `{"id":"${id}"}`,
      ...over,
    });
    await scene.read('reservations', [
      reservation('h-1', 5 * MINUTE),
      reservation('h-2', -1),
      reservation('h-3', 5 * MINUTE, { isComplete: true, state: null }),
      reservation('h-4', 5 * MINUTE, { state: 'Cancelled' }),
      reservation('h-5', 5 * MINUTE, { state: null, isComplete: null }),
    ]);
    const rows = await scene.db.rows(
      'SELECT id, state_now, seconds_left > 200 AS long FROM reservations_now ORDER BY id',
    );
    expect(rows).toEqual([
      { id: 'h-1', state_now: 'outstanding', long: 1 },
      { id: 'h-2', state_now: 'expired', long: null },
      { id: 'h-3', state_now: 'finished', long: null },
      { id: 'h-4', state_now: 'cancelled', long: null },
      { id: 'h-5', state_now: 'outstanding', long: 1 },
    ]);
  });
});

/** Creates the expected row of a credit; sums that are not given are null. */
function createSumsRow(creditId: string, given: Readonly<Record<string, number>>) {
  const none = {
    amount_ex_post: null,
    amount_ex_post_micro: null,
    amount_ex_ante: null,
    amount_ex_ante_micro: null,
  };
  return { credit_id: creditId, ...none, rows_without_amount: 0, ...given };
}
