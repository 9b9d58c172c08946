import { describe, expect, test } from 'vitest';
import type { RowKey } from '../../src/mirror/port/rows.js';
import { ENGINES, type TestMirror, beginRead, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { credit, createUnknownPage, retirements } from '../support/mirror/rows.js';

const UNREADABLE = {
  code: 'rows_unreadable',
  message: 'rows could not be read and were left out: credits[1]',
};

/** Reads the warehouse with these credits and with unreadable rows of these keys. */
async function readWarehouse(scene: TestMirror, ids: readonly string[], keys: readonly (RowKey | null)[]) {
  scene.clock.at += MINUTE;
  const read = await beginRead(scene, 'warehouse');
  await read.writeBatch(
    ids.map(id => credit(id)),
    scene.clock.at,
  );
  await read.recordUnreadable(keys);
  await read.compareRemaining();
  return await read.finish({ ...TRAFFIC, total: null, unreadable: keys.length === 0 ? null : UNREADABLE });
}

const readIds = ({ db }: TestMirror) => db.column('SELECT credit_id FROM warehouse_credits ORDER BY 1');
const readState = ({ db }: TestMirror) =>
  db.row("SELECT outcome, error_code, error FROM resource_states WHERE resource = 'warehouse'");

async function startWithFiveCredits(stage: () => Promise<TestMirror>): Promise<TestMirror> {
  const scene = await stage();
  await scene.read(
    'warehouse',
    ['a', 'b', 'c', 'd', 'e'].map(id => credit(id)),
  );
  return scene;
}

describe.each(ENGINES)('$name', ({ stage }) => {
  test('an unreadable row with a known key keeps its stored row, and every other missing row is closed', async () => {
    const scene = await startWithFiveCredits(stage);
    const before = await scene.db.value("SELECT version FROM warehouse_credits WHERE credit_id = 'b'");
    const ended = await readWarehouse(scene, ['a', 'c', 'e'], [['b', '']]);
    expect(ended).toMatchObject({ state: 'complete', removed: 1, fault: UNREADABLE });
    expect(await readIds(scene)).toEqual(['a', 'b', 'c', 'e']);
    expect(await scene.db.value("SELECT version FROM warehouse_credits WHERE credit_id = 'b'")).toBe(before);
    const { code, message } = UNREADABLE;
    expect(await readState(scene)).toEqual({ outcome: 'complete', error_code: code, error: message });
    expect(await readWarehouse(scene, ['a', 'b', 'c', 'e'], [])).toMatchObject({
      state: 'complete',
      fault: null,
    });
    expect(await readState(scene)).toEqual({ outcome: 'complete', error_code: null, error: null });
  });

  test('an unreadable row with a new key is left out, and missing rows are closed', async () => {
    const scene = await startWithFiveCredits(stage);
    expect(await readWarehouse(scene, ['a', 'b', 'c', 'd'], [['f', '']])).toMatchObject({
      state: 'complete',
    });
    expect(await readIds(scene)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a read with an unreadable row without a key is complete if no known row is missing', async () => {
    const scene = await startWithFiveCredits(stage);
    const ended = await readWarehouse(scene, ['a', 'b', 'c', 'd', 'e', 'f'], [null]);
    expect(ended).toMatchObject({ state: 'complete', added: 1, removed: 0, fault: UNREADABLE });
  });

  test('a read with an unreadable row without a key closes no missing row, however often it is repeated', async () => {
    const scene = await startWithFiveCredits(stage);
    for (let times = 0; times < 3; times += 1) {
      scene.clock.at += 2 * MINUTE;
      const ended = await readWarehouse(scene, ['a'], [null, ['b', '']]);
      expect(ended).toMatchObject({ state: 'removals_unconfirmed', removed: 0 });
      expect(ended.fault?.message).toMatch(/credits\[1\]; 3 rows are missing and may be among them$/);
    }
    expect(await readIds(scene)).toHaveLength(5);
    expect(await scene.db.value("SELECT reason FROM freshness WHERE resource = 'warehouse'")).toBe(
      'removals_unconfirmed',
    );
    scene.clock.at += 2 * MINUTE;
    expect(await readWarehouse(scene, ['a', 'b', 'c'], [])).toMatchObject({ state: 'complete', removed: 2 });
  });

  test.each([
    [1, 'complete', null],
    [0, 'partial', 'total_differs'],
    [2, 'partial', 'total_differs'],
  ])(
    'unreadable rows count towards the total of a list (a total %i above the readable rows: %s)',
    async (more, state, code) => {
      const scene = await stage();
      const read = await beginRead(scene, 'retirements');
      await read.writePage(createUnknownPage(retirements(3), scene.clock.at));
      await read.recordUnreadable([['r-new']]);
      expect(await read.compareRemaining()).toBe(4);
      const fault = { ...UNREADABLE, code: 'rows_unreadable' };
      const ended = await read.finish({ ...TRAFFIC, total: 3 + more, unreadable: fault });
      expect(ended).toMatchObject({ state, fault: { code: code ?? fault.code }, readAgain: code !== null });
    },
  );

  test('digests of pages with unreadable rows are not stored, so the next read reports those rows again', async () => {
    const scene = await stage();
    const digests = () =>
      scene.db.value("SELECT page_digests FROM resource_states WHERE resource = 'retirements'");
    await scene.read('retirements', retirements(3), { limit: 3 });
    expect(await digests()).not.toBeNull();
    const read = await beginRead(scene, 'retirements');
    await read.writePage(createUnknownPage(retirements(3), scene.clock.at));
    await read.recordUnreadable([null]);
    expect(await read.compareRemaining()).toBe(4);
    await read.finish({ ...TRAFFIC, total: null, unreadable: UNREADABLE });
    expect(await digests()).toBeNull();
  });

  test.each([
    [2, 'partial'],
    [3, 'complete'],
    [4, 'partial'],
  ])('a list of three rows that the registry counts as %i is %s', async (total, state) => {
    const scene = await stage();
    expect(await scene.read('retirements', retirements(3), { limit: 3, total })).toMatchObject({ state });
  });
});
