import { describe, expect, test } from 'vitest';
import { ENGINES, type TestMirror, beginRead, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { credit, retirements } from '../support/mirror/rows.js';
import { createMirror } from '../../src/mirror/create-mirror.js';

const createCredits = (count: number) => Array.from({ length: count }, (_, index) => credit(`c-${index}`));
const countRows = (scene: TestMirror, table: string) =>
  scene.db.value<number>(`SELECT count(*) FROM ${table}`);
const readOutcome = (scene: TestMirror, resource: string) =>
  scene.db.value<string>('SELECT outcome FROM resource_states WHERE resource = ?', resource);
const confirmAllGone = async (ids: readonly string[]) => ids;

async function readShorterList(scene: TestMirror, from: number, to: number): Promise<number | undefined> {
  await scene.read('warehouse', createCredits(from));
  scene.clock.at += MINUTE;
  await scene.read('warehouse', createCredits(to));
  return await countRows(scene, 'warehouse_credits');
}

describe.each(ENGINES)('$name', ({ stage }) => {
  test.each([
    [25, 0],
    [25, 1],
    [4, 1],
    [3, 0],
    [1, 0],
  ])('T35 a list of %i rows that suddenly has %i needs a second read', async (from, to) => {
    const scene = await stage();
    expect(await readShorterList(scene, from, to)).toBe(from);
    expect(await readOutcome(scene, 'warehouse')).toBe('removals_unconfirmed');
    expect(
      await scene.db.value(
        "SELECT coalesce(reason, state) AS state FROM freshness WHERE resource = 'warehouse'",
      ),
    ).toBe('removals_unconfirmed');
  });

  test.each([
    [4, 2],
    [3, 1],
  ])('T35 a list of %i rows that has %i is accepted at once', async (from, to) => {
    const scene = await stage();
    expect(await readShorterList(scene, from, to)).toBe(to);
  });

  test.each(['members', 'addresses'] as const)(
    'T35 one wrong answer with other rows closes no %s before a second read',
    async resource => {
      const scene = await stage();
      const rows = (ids: readonly string[]) =>
        ids.map(id => ({
          id,
          fullName: id,
          email: null,
          address: id,
          name: id,
          isDefault: null,
          document: id,
        }));
      await scene.read(resource, rows(['a', 'b', 'c', 'd', 'e']));
      scene.clock.at += MINUTE;
      await scene.read(resource, rows(['x']));
      expect(await countRows(scene, resource)).toBe(6);
      expect(await readOutcome(scene, resource)).toBe('removals_unconfirmed');
    },
  );

  test('T35 an empty list of reservations is accepted at once, because reservations expire', async () => {
    const scene = await stage();
    const held = Array.from({ length: 5 }, (_, index) => ({
      ...credit('c-1'),
      id: `h-${index}`,
      reserverId: null,
      reserverName: null,
      state: null,
      isComplete: null,
      reservedToDate: null,
      createdAt: null,
      updatedAt: null,
    }));
    await scene.read('reservations', held);
    scene.clock.at += MINUTE;
    await scene.read('reservations', []);
    expect(await countRows(scene, 'reservations')).toBe(0);
  });

  test('T35 a second read closes the rows that both lacked if it comes at least a minute later', async () => {
    const scene = await stage();
    await readShorterList(scene, 25, 0);
    scene.clock.at += MINUTE - 1;
    expect(await scene.read('warehouse', [])).toMatchObject({
      state: 'removals_unconfirmed',
      fault: { message: expect.stringMatching(/^25 rows/) },
    });
    expect(await countRows(scene, 'warehouse_credits')).toBe(25);
    scene.clock.at += 1;
    expect(await scene.read('warehouse', [])).toMatchObject({ state: 'complete', removed: 25 });
    expect(await countRows(scene, "past WHERE resource = 'warehouse'")).toBe(25);
  });

  test('T35 the wait for a second read starts anew if a wrong clock dated it in the future', async () => {
    const scene = await stage();
    scene.clock.at += 24 * 60 * MINUTE;
    await readShorterList(scene, 25, 0);
    scene.clock.at -= 24 * 60 * MINUTE;
    for (const [claim, rows] of [
      [2, 25],
      [3, 0],
    ] as const) {
      await scene.read('warehouse', [], { claim });
      expect(await countRows(scene, 'warehouse_credits')).toBe(rows);
      scene.clock.at += MINUTE;
    }
  });

  test('T35 the wait for a second read survives a restart', async () => {
    const scene = await stage();
    await readShorterList(scene, 25, 0);
    scene.clock.at += MINUTE;
    const restarted = createMirror(scene.port, () => scene.clock.at);
    const read = await beginRead({ ...scene, mirror: restarted }, 'warehouse', {
      claim: 2,
      trigger: 'schedule',
    });
    expect(await read.finish({ ...TRAFFIC, total: null })).toMatchObject({ state: 'complete', removed: 25 });
  });

  test('T35 rows that come back are not closed, and no second read is needed any more', async () => {
    const scene = await stage();
    await readShorterList(scene, 25, 0);
    scene.clock.at += MINUTE;
    expect(await scene.read('warehouse', createCredits(25))).toMatchObject({
      state: 'complete',
      unchanged: 25,
    });
    expect(await scene.db.value('SELECT count(doubted_at) FROM resource_states')).toBe(0);
  });

  test('T35 a second read that lacks other rows closes only those that both lacked', async () => {
    const scene = await stage();
    const all = createCredits(60);
    await scene.read('warehouse', all);
    scene.clock.at += MINUTE;
    await scene.read('warehouse', all.slice(40));
    scene.clock.at += MINUTE;
    const second = await scene.read('warehouse', all.slice(0, 20));
    expect(second).toMatchObject({
      state: 'removals_unconfirmed',
      removed: 20,
      fault: { message: expect.stringMatching(/^20 rows/) },
    });
    expect(await countRows(scene, 'warehouse_credits')).toBe(40);
  });

  test('T35 if the registry still has one of fifty missing retirements, none is closed', async () => {
    const scene = await stage();
    await scene.read('retirements', retirements(100), { limit: 100, total: 100 });
    for (let read = 0; read < 3; read += 1) {
      scene.clock.at += MINUTE;
      const findGone = async (ids: readonly string[]) => {
        expect(ids).toHaveLength(50);
        return ids.slice(1);
      };
      expect(
        await scene.read('retirements', retirements(10), { limit: 100, total: 10, findGone }),
      ).toMatchObject({
        state: 'removals_unconfirmed',
        fault: {
          code: 'mostly_gone',
          message: expect.stringMatching(/^90 rows are missing: more than half/),
        },
      });
    }
    expect(await countRows(scene, 'retirements')).toBe(100);
  });

  test('T37 a read whose row count differs from the total is partial and closes nothing', async () => {
    const scene = await stage();
    await scene.read('retirements', retirements(30), { limit: 10, total: 30 });
    scene.clock.at += MINUTE;
    const outcome = await scene.read('retirements', retirements(28), {
      limit: 10,
      total: 29,
      findGone: confirmAllGone,
    });
    expect(outcome).toMatchObject({ state: 'partial', fault: { code: 'total_differs' }, readAgain: true });
    expect(await countRows(scene, 'retirements')).toBe(30);
    expect(await readOutcome(scene, 'retirements')).toBe('partial');
  });

  test('T37 a row that moved between two pages is never closed, even if the total is right', async () => {
    const scene = await stage();
    const rows = retirements(31);
    await scene.read('retirements', rows.slice(0, 30), { limit: 10, total: 30 });
    scene.clock.at += MINUTE;
    // Row 5 was deleted and row 30 entered after the first page had been read: row 10 is alive and on no page.
    const seen = [...rows.slice(0, 10), ...rows.slice(11, 31)];
    const findGone = async (ids: readonly string[]) => {
      expect(ids).toEqual(['r-00010']);
      return [];
    };
    expect(await scene.read('retirements', seen, { limit: 10, total: 30, findGone })).toMatchObject({
      state: 'partial',
      fault: { code: 'rows_moved' },
      readAgain: true,
    });
    expect(await countRows(scene, 'retirements')).toBe(31);
    scene.clock.at += MINUTE;
    const quiet = rows.filter((_, index) => index !== 5);
    expect(
      await scene.read('retirements', quiet, { limit: 10, total: 30, findGone: confirmAllGone }),
    ).toMatchObject({
      state: 'complete',
      removed: 1,
    });
    expect(await countRows(scene, 'retirements')).toBe(30);
  });

  test('T37 a long list closes rows without looking them up only if its pages are unchanged since the previous read', async () => {
    const scene = await stage();
    await scene.read('reservations', [], { limit: 10, total: 0 });
    await scene.read('retirements', retirements(300), { limit: 10, total: 300 });
    const fewer = retirements(300).slice(100);
    scene.clock.at += MINUTE;
    expect(await scene.read('retirements', fewer, { limit: 10, total: 200 })).toMatchObject({
      state: 'partial',
      removed: 0,
      fault: { message: expect.stringMatching(/^100 rows/) },
      readAgain: true,
    });
    scene.clock.at += MINUTE;
    expect(await scene.read('retirements', fewer, { limit: 10, total: 200 })).toMatchObject({
      state: 'complete',
      removed: 100,
    });
  });

  test('a row that moved to the next page is seen twice and counted once', async () => {
    const scene = await stage();
    const rows = retirements(20);
    const shifted = [...rows.slice(0, 10), ...rows.slice(9, 20)];
    const outcome = await scene.read('retirements', shifted, { limit: 10, total: 20 });
    expect(outcome).toMatchObject({ state: 'complete', added: 20 });
  });

  test('two rows with the same key in one answer fail the read, and none of its rows is stored', async () => {
    const scene = await stage();
    await expect(scene.read('warehouse', [credit('c-1'), credit('c-1')])).rejects.toMatchObject({
      code: 'duplicate_key',
    });
    await expect(
      scene.read('retirements', [...retirements(3), ...retirements(1)], { limit: 10 }),
    ).rejects.toMatchObject({ code: 'duplicate_key' });
    expect(await countRows(scene, 'warehouse_credits')).toBe(0);
    expect(await countRows(scene, 'retirements')).toBe(0);
  });
});
