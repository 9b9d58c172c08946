import { describe, expect, test } from 'vitest';
import {
  ENGINES,
  type TestMirror,
  createFindMissing,
  beginRead,
  MINUTE,
  TRAFFIC,
} from '../support/mirror/open.js';
import {
  credit,
  hashRows,
  createRowGroup,
  createKnownPage,
  createUnknownPage,
  retirement,
  retirements,
} from '../support/mirror/rows.js';
import { createMirror } from '../../src/mirror/create-mirror.js';
import type { MirrorPort } from '../../src/mirror/port/mirror-port.js';
import type { Credit } from '../../src/registry/object-models.js';

const confirmAllGone = async (ids: readonly string[]) => ids;

/** What happens to another page of a list of which one page of ten rows was skipped. */
const BESIDE = [
  { what: 'lacks a row', second: retirements(20).slice(10, 19), total: null },
  { what: 'has a row of the one that was passed', second: retirements(20).slice(9), total: null },
  {
    what: 'has one of them for one of its own, so that the count fits',
    second: retirements(20).slice(9, 19),
    total: 20,
  },
  {
    what: 'has one of them for one of its own beside a new one',
    second: [...retirements(20).slice(9, 19), retirement('new')],
    total: 21,
  },
];
const PASSED = (['page', 'group'] as const).flatMap(how => BESIDE.map(each => ({ ...each, how })));

describe.each(ENGINES)('$name', ({ stage }) => {
  test('a first read fills the table and is complete', async () => {
    const { db, read } = await stage();
    const outcome = await read('retirements', retirements(250), { limit: 100, total: 250 });
    expect(outcome).toMatchObject({ state: 'complete', added: 250, changed: 0, removed: 0, fault: null });
    expect(await db.value('SELECT count(*) FROM retirements')).toBe(250);
    expect(await db.value("SELECT rows FROM freshness WHERE resource = 'retirements'")).toBe(250);
  });

  test('a new first row shifts every page and is the only row written', async () => {
    const { db, clock, read } = await stage();
    await read('retirements', retirements(250), { limit: 10, total: 250 });
    clock.at += MINUTE;
    const outcome = await read('retirements', [retirement('new'), ...retirements(250)], {
      limit: 10,
      total: 251,
    });
    expect(outcome).toMatchObject({ state: 'complete', added: 1, changed: 0, unchanged: 250 });
    expect(
      await db.value('SELECT count(*) FROM retirements WHERE valid_from > ?', '2026-05-04T12:00:30'),
    ).toBe(1);
  });

  test('a changed row gets a new version that starts where the old one ends', async () => {
    const { db, clock, read } = await stage();
    await read('warehouse', [credit('c-1'), credit('c-2')]);
    clock.at += MINUTE;
    const outcome = await read('warehouse', [credit('c-1'), credit('c-2', { type: 'exAnte' })]);
    expect(outcome).toMatchObject({ added: 0, changed: 1, unchanged: 1 });
    expect(await readHistory(db, 'c-2')).toEqual([
      { type: 'exPost', valid_from: '2026-05-04T12:00:00.000Z', valid_to: '2026-05-04T12:01:00.000Z' },
      { type: 'exAnte', valid_from: '2026-05-04T12:01:00.000Z', valid_to: null },
    ]);
  });

  test('a row that disappears and comes back gets a new version, with a gap between', async () => {
    const { db, clock, read } = await stage();
    await read('warehouse', [credit('c-1'), credit('c-2')]);
    clock.at += MINUTE;
    await read('warehouse', [credit('c-1')]);
    clock.at += MINUTE;
    await read('warehouse', [credit('c-1'), credit('c-2')]);
    expect(await readHistory(db, 'c-2')).toEqual([
      { type: 'exPost', valid_from: '2026-05-04T12:00:00.000Z', valid_to: '2026-05-04T12:01:00.000Z' },
      { type: 'exPost', valid_from: '2026-05-04T12:02:00.000Z', valid_to: null },
    ]);
  });

  test('versions of a row have rising instants even if the clock stands still or is set back', async () => {
    const { db, clock, read } = await stage();
    for (const [step, type] of [
      [0, 'one'],
      [0, 'two'],
      [-60 * MINUTE, 'three'],
      [0, 'four'],
    ] as const) {
      clock.at += step;
      await read('warehouse', [credit('c-2', { type })], {
        claim: (await db.value<number>('SELECT max(claim) + 1 FROM fences')) ?? 1,
      });
    }
    expect((await readHistory(db, 'c-2')).map(({ type, valid_from }) => [type, valid_from])).toEqual([
      ['one', '2026-05-04T12:00:00.000Z'],
      ['two', '2026-05-04T12:00:00.001Z'],
      ['three', '2026-05-04T12:00:00.002Z'],
      ['four', '2026-05-04T12:00:00.003Z'],
    ]);
  });

  test('at every instant exactly one version of a row is valid, even at the instant of a change', async () => {
    const { db, clock, read } = await stage();
    await read('warehouse', [credit('c-2')]);
    clock.at += MINUTE;
    await read('warehouse', [credit('c-2', { type: 'exAnte' })]);
    expect((await readRowsAsOf(db, '2026-05-04T12:00:59.999Z')).map(({ type }) => type)).toEqual(['exPost']);
    expect((await readRowsAsOf(db, '2026-05-04T12:01:00.000Z')).map(({ type }) => type)).toEqual(['exAnte']);
    expect(await readRowsAsOf(db, '2026-05-04T11:59:59.999Z')).toEqual([]);
  });

  test('rows of an interrupted read stay, are marked as partial, and do not mislead later reads', async () => {
    const { db, port, clock, read } = await stage();
    const old = retirements(3_000);
    await read('retirements', old, { limit: 100, total: 3_000 });
    const changed = old.map(item => ({ ...item, document: `${item.document} ` }));
    clock.at += MINUTE;
    const broken = await beginRead({ mirror: createMirror(port, () => clock.at), clock }, 'retirements');
    for (let page = 0; page < 10; page += 1)
      await broken.writePage(createUnknownPage(changed.slice(page * 100, page * 100 + 100), clock.at));
    await broken.abandon({ code: 'timeout', message: 'no answer' }, { requests: 10, bytes: 1 });
    expect(
      await db.value("SELECT coalesce(reason, state) AS state FROM freshness WHERE resource = 'retirements'"),
    ).toBe('read_interrupted');
    expect(await db.value('SELECT state FROM syncs ORDER BY id DESC LIMIT 1')).toBe('partial');
    clock.at += MINUTE;
    const outcome = await read('retirements', old, { limit: 100, total: 3_000 });
    expect(outcome).toMatchObject({ state: 'complete', added: 0, removed: 0 });
    expect(outcome.changed).toBeGreaterThan(0);
    const documents = await db.column<string>('SELECT document FROM retirements ORDER BY id');
    expect(documents).toEqual(old.map(item => item.document));
  });

  test('an unchanged page is compared again after an interrupted read that wrote rows', async () => {
    const { db, port, clock, read } = await stage();
    const old = retirements(2_000);
    await read('retirements', old, { limit: 100, total: 2_000 });
    clock.at += MINUTE;
    const mirror = createMirror(port, () => clock.at);
    const broken = await beginRead({ mirror, clock }, 'retirements');
    for (let page = 0; page < 10; page += 1) {
      const later = old.slice(1_000 + page * 100, 1_100 + page * 100);
      await broken.writePage(
        createUnknownPage(
          later.map(item => ({ ...item, document: `${item.document} ` })),
          clock.at,
        ),
      );
    }
    await broken.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
    expect(await db.value("SELECT count(*) FROM past WHERE resource = 'retirements'")).toBeGreaterThan(0);
    clock.at += MINUTE;
    await read('retirements', old, { limit: 100, total: 2_000 });
    const documents = await db.column<string>('SELECT document FROM retirements ORDER BY id');
    expect(documents).toEqual(old.map(item => item.document));
  });

  test('only an unchanged page is skipped', async () => {
    const { mirror, clock, read } = await stage();
    const old = retirements(20);
    await read('retirements', old, { limit: 10, total: 20 });
    clock.at += MINUTE;
    const same = await beginRead({ mirror, clock }, 'retirements');
    const parts = [old.slice(0, 10), old.slice(10), old.slice(5)];
    const { getRowCount, hasGroup } = same.known;
    expect(parts.map(part => hasGroup(hashRows(part)))).toEqual([true, true, false]);
    expect(parts.map(part => getRowCount(createUnknownPage(part, 0).digest))).toEqual([10, 10, undefined]);
    await same.writePage(createKnownPage(old.slice(0, 10), clock.at));
    await same.writePage({
      ...createUnknownPage([], clock.at),
      knownGroups: [createRowGroup(old.slice(10))],
    });
    expect(await same.compareRemaining()).toBe(20);
    expect(await same.finish({ ...TRAFFIC, total: 20 })).toMatchObject({ state: 'complete', unchanged: 20 });
  });

  test.each(PASSED)(
    'if a $how was skipped and another page $what, all rows are read before any is closed',
    async given => {
      const { db, mirror, clock, read } = await stage();
      const old = retirements(20);
      await read('retirements', old, { limit: 10, total: 20 });
      clock.at += MINUTE;
      const moved = await beginRead({ mirror, clock }, 'retirements');
      await moved.writePage(
        given.how === 'page'
          ? createKnownPage(old.slice(0, 10), clock.at)
          : {
              ...createUnknownPage([], clock.at),
              knownGroups: [createRowGroup(old.slice(0, 10))],
              unknownGroups: [],
            },
      );
      await moved.writePage(createUnknownPage(given.second, clock.at));
      const asked = createFindMissing(async ids => ids, clock);
      const ended = await moved.finish({ ...TRAFFIC, total: given.total, lookUpMissing: asked });
      expect(ended).toMatchObject({ state: 'partial', readAgain: true, removed: 0 });
      const again = await beginRead({ mirror, clock }, 'retirements');
      expect(again.known.hasGroup(hashRows(old.slice(0, 10)))).toBe(false);
      expect(again.known.getRowCount(createUnknownPage(old.slice(0, 10), 0).digest)).toBeUndefined();
      expect(await db.value("SELECT count(*) FROM retirements WHERE id <> 'new'")).toBe(20);
    },
  );

  test.each(['partial', 'broken', 'full', 'repeated'] as const)(
    'no page is skipped after a previous read that did not leave the mirror equal to the list: %s',
    async how => {
      const { mirror, clock, read } = await stage();
      const old = retirements(20);
      await read('retirements', old, { limit: 10, total: 20 });
      if (how === 'partial') await read('retirements', old, { limit: 10, total: 21 });
      if (how === 'repeated')
        await read('retirements', [...old, ...old.slice(0, 1)], { limit: 10, total: 20 });
      if (how === 'broken') {
        const broken = await beginRead({ mirror, clock }, 'retirements');
        await broken.writePage(createUnknownPage(retirements(900, 'new'), clock.at));
        await broken.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
      }
      const next = await beginRead({ mirror, clock }, 'retirements', { full: how === 'full' });
      expect(next.known.hasGroup(hashRows(old.slice(0, 10)))).toBe(false);
      expect(next.known.getRowCount(createUnknownPage(old.slice(0, 10), 0).digest)).toBeUndefined();
    },
  );

  test('a read stores the content it saw last, even if it came on an unchanged page', async () => {
    const { db, mirror, clock, read } = await stage();
    const old = retirements(20);
    await read('retirements', old, { limit: 10, total: 20 });
    clock.at += MINUTE;
    const moved = await beginRead({ mirror, clock }, 'retirements');
    const changed = retirement('r-00015', { comment: 'for a moment' });
    await moved.writePage(createUnknownPage([changed, ...old.slice(0, 9)], clock.at));
    await moved.writePage(createUnknownPage(old.slice(10), clock.at));
    expect(await moved.compareRemaining()).toBe(19);
    await moved.finish({ ...TRAFFIC, total: null, lookUpMissing: createFindMissing(async () => [], clock) });
    const documents = await db.column<string>('SELECT document FROM retirements ORDER BY id');
    expect(documents).toEqual(old.map(item => item.document));
  });

  test.each([
    { rows: 20, written: 0, what: 'before it was written' },
    { rows: 900, written: 900, what: 'after it was written' },
  ])('a row that one read saw with two contents gets two versions ($what)', async ({ rows, written }) => {
    const { db, mirror, clock } = await stage();
    const twice = await beginRead({ mirror, clock }, 'retirements');
    await twice.writePage(createUnknownPage(retirements(rows), clock.at));
    await expect.poll(() => db.value('SELECT count(*) FROM retirements')).toBe(written);
    const changed = retirement('r-00000', { comment: 'changed meanwhile' });
    await twice.writePage(createUnknownPage([changed], clock.at + 20));
    await twice.writePage(createUnknownPage([changed], clock.at + 30));
    await twice.writePage(
      createUnknownPage([retirement('r-00000', { comment: 'asked for ahead' })], clock.at + 10),
    );
    expect(await twice.finish({ ...TRAFFIC, total: rows })).toMatchObject({ added: rows, changed: 2 });
    const versions = await db.rows(
      "SELECT comment, valid_from, valid_to FROM retirements_history WHERE id = 'r-00000' ORDER BY 2",
    );
    expect(versions.map(Object.values)).toEqual([
      [null, '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.020Z'],
      ['changed meanwhile', '2026-05-04T12:00:00.020Z', '2026-05-04T12:00:00.021Z'],
      ['asked for ahead', '2026-05-04T12:00:00.021Z', null],
    ]);
    expect(await db.value('SELECT sum(rows) FROM retirements_by_month')).toBe(rows);
  });

  test('a row that comes again during its commit is compared with the written version', async () => {
    const { db, port, clock } = await stage();
    const waiting: (() => void)[] = [];
    const slow: MirrorPort = {
      ...port,
      commit: async (...given) => {
        await new Promise<void>(go => waiting.push(go));
        return port.commit(...given);
      },
    };
    const read = await beginRead({ mirror: createMirror(slow, () => clock.at), clock }, 'retirements');
    await read.writePage(createUnknownPage(retirements(800), clock.at));
    await expect.poll(() => waiting).toHaveLength(1);
    const changed = retirement('r-00350', { comment: 'changed meanwhile' });
    const again = read.writePage(createUnknownPage([changed, retirement('new')], clock.at + 20));
    waiting.shift()?.();
    await again;
    expect(await read.compareRemaining()).toBe(801);
    const finish = read.finish({ ...TRAFFIC, total: 801 });
    await expect.poll(() => waiting).toHaveLength(1);
    waiting.shift()?.();
    expect(await finish).toMatchObject({ state: 'complete', added: 801, changed: 1 });
    expect(
      await db.column("SELECT comment FROM retirements_history WHERE id = 'r-00350' ORDER BY version"),
    ).toEqual([null, 'changed meanwhile']);
  });

  test('the first read of a list looks up only rows that it has seen before', async () => {
    const { db, port, clock } = await stage();
    const asked: string[] = [];
    const watched: MirrorPort = {
      ...port,
      findRows: async (list, keys) => {
        asked.push(...keys.flat());
        return port.findRows(list, keys);
      },
    };
    const mirror = createMirror(watched, () => clock.at);
    const first = await beginRead({ mirror, clock }, 'retirements');
    await first.writePage(createUnknownPage(retirements(800), clock.at));
    const again = [retirement('r-00007'), retirement('r-00008', { comment: 'changed' }), retirement('new')];
    await first.writePage(createUnknownPage(again, clock.at));
    expect(await first.compareRemaining()).toBe(801);
    await first.finish({ ...TRAFFIC, total: 801 });
    expect(asked).toEqual(['r-00007', 'r-00008']);
    expect(await db.value('SELECT count(*) FROM retirements_history')).toBe(802);
    const second = await beginRead({ mirror, clock }, 'retirements');
    await second.writePage(createUnknownPage([retirement('r-00009')], clock.at));
    await second.compareRemaining();
    expect(asked.at(-1)).toBe('r-00009');
  });

  test('the next call reports a failed commit, and the read is abandoned', async () => {
    const { db, port, clock } = await stage();
    const failing: MirrorPort = {
      ...port,
      commit: async (run, changes, ending) => {
        if (changes.inserts.length > 0) throw new Error('the disk is full');
        return port.commit(run, changes, ending);
      },
    };
    const read = await beginRead({ mirror: createMirror(failing, () => clock.at), clock }, 'retirements');
    await read.writePage(createUnknownPage(retirements(800), clock.at));
    await expect(read.finish({ ...TRAFFIC, total: 800 })).rejects.toThrow('the disk is full');
    await read.abandon({ code: 'disk_full', message: 'the disk is full' }, TRAFFIC);
    expect(await db.value('SELECT count(*) FROM retirements')).toBe(0);
    expect(await db.value("SELECT outcome FROM resource_states WHERE resource = 'retirements'")).toBe(
      'failed',
    );
  });

  test('a row starts at the answer that showed it, and ends at the answer that no longer had it', async () => {
    const { db, mirror, clock, read } = await stage();
    const old = retirements(30);
    await read('retirements', old, { limit: 10, total: 30 });
    clock.at += MINUTE;
    const slow = await beginRead({ mirror, clock }, 'retirements');
    await slow.writePage(createUnknownPage([retirement('new-0'), ...old.slice(2, 10)], clock.at + 3_000));
    await slow.writePage(createUnknownPage([retirement('new-1'), ...old.slice(10, 29)], clock.at + 1_000));
    const toldAt = clock.at + 4_000;
    clock.at += 5_000;
    await slow.finish({
      ...TRAFFIC,
      total: 29,
      lookUpMissing: async ([first = '']) => new Map([[first, toldAt]]),
    });
    await read('retirements', old.slice(2, 29), { limit: 30, total: 27, findGone: confirmAllGone });
    const dates = await db.rows(
      `SELECT id, valid_from, valid_to FROM retirements_history
     WHERE id IN ('new-0', 'new-1', 'r-00000', 'r-00001') ORDER BY id`,
    );
    expect(dates.map(Object.values)).toEqual([
      ['new-0', '2026-05-04T12:01:03.000Z', '2026-05-04T12:01:05.000Z'],
      ['new-1', '2026-05-04T12:01:01.000Z', '2026-05-04T12:01:05.000Z'],
      ['r-00000', '2026-05-04T12:00:00.000Z', '2026-05-04T12:01:04.000Z'],
      ['r-00001', '2026-05-04T12:00:00.000Z', '2026-05-04T12:01:05.000Z'],
    ]);
    expect(await readState(db)).toMatchObject({ stamp_at: '2026-05-04T12:01:05.000Z' });
  });

  test("a list's content is known from the end of its first complete read, but freshness and fences count from its start", async () => {
    const { db, mirror, clock } = await stage();
    const first = await beginRead({ mirror, clock }, 'retirements');
    await first.writePage(createUnknownPage(retirements(10), clock.at + 1_000));
    await first.writePage(createUnknownPage([retirement('last')], clock.at + 9_000));
    clock.at += 10_000;
    await first.finish({ ...TRAFFIC, total: 11 });
    expect(await readState(db)).toEqual({
      first_complete_at: '2026-05-04T12:00:10.000Z',
      as_of: '2026-05-04T12:00:00.000Z',
      read_at: '2026-05-04T12:00:00.000Z',
      stamp_at: '2026-05-04T12:00:09.000Z',
    });
  });

  test("after a clock was a day ahead, only rows of that day are dated ahead, and each row's instants rise", async () => {
    const { db, clock, read } = await stage();
    await read('warehouse', [credit('before'), credit('changed'), credit('gone'), credit('goes')]);
    clock.at += 24 * 60 * MINUTE;
    await read('warehouse', [credit('before'), credit('changed', { type: 'exAnte' }), credit('goes')]);
    clock.at -= 24 * 60 * MINUTE - MINUTE;
    const request = { claim: 2 };
    await read(
      'warehouse',
      [credit('before', { type: 'exAnte' }), credit('changed'), credit('gone')],
      request,
    );
    const dates = await db.rows(
      'SELECT credit_id, valid_from, valid_to FROM warehouse_credits_history ORDER BY credit_id, valid_from',
    );
    expect(dates.map(Object.values)).toEqual([
      ['before', '2026-05-04T12:00:00.000Z', '2026-05-04T12:01:00.000Z'],
      ['before', '2026-05-04T12:01:00.000Z', null],
      ['changed', '2026-05-04T12:00:00.000Z', '2026-05-05T12:00:00.000Z'],
      ['changed', '2026-05-05T12:00:00.000Z', '2026-05-05T12:00:00.001Z'],
      ['changed', '2026-05-05T12:00:00.001Z', null],
      ['goes', '2026-05-04T12:00:00.000Z', '2026-05-04T12:01:00.000Z'],
      ['gone', '2026-05-04T12:00:00.000Z', '2026-05-05T12:00:00.000Z'],
      ['gone', '2026-05-05T12:00:00.001Z', null],
    ]);
  });

  test('few changes of a single answer become visible together when the read ends', async () => {
    const { db, mirror, clock } = await stage();
    const read = await beginRead({ mirror, clock }, 'warehouse');
    const items = Array.from({ length: 400 }, (_, index) => credit(`c-${index}`));
    await read.writeBatch(items.slice(0, 200), clock.at);
    await read.writeBatch(items.slice(200), clock.at);
    expect(await db.value('SELECT count(*) FROM warehouse_credits')).toBe(0);
    await read.finish({ requests: 1, bytes: 1, total: null });
    expect(await db.value('SELECT count(*) FROM warehouse_credits')).toBe(400);
  });

  test('T47 long rows are written before the end of a read, to limit memory', async () => {
    const { db, mirror, clock } = await stage();
    const read = await beginRead({ mirror, clock }, 'warehouse');
    const count = () => db.value('SELECT count(*) FROM warehouse_credits');
    const document = JSON.stringify({ comment: 'x'.repeat(1024 * 1024) });
    const long = (from: number) =>
      Array.from({ length: 4 }, (_, index) => credit(`c-${from + index}`, { document }));
    for (const [from, shown] of [
      [0, 0],
      [4, 8],
      [8, 8],
      [12, 16],
      [16, 16],
    ] as const) {
      await read.writeBatch(long(from), clock.at);
      await expect.poll(count).toBe(shown);
    }
    await read.finish({ requests: 1, bytes: 1, total: null });
    expect(await count()).toBe(20);
  });

  test('many changes of a single answer are written in several transactions before the read is complete', async () => {
    const { db, mirror, clock } = await stage();
    clock.at = Date.now();
    const read = await beginRead({ mirror, clock }, 'warehouse');
    const items = Array.from({ length: 1_800 }, (_, index) => credit(`c-${index}`));
    await read.writeBatch(items, clock.at);
    await expect
      .poll(() => db.row("SELECT state, reason, rows FROM freshness WHERE resource = 'warehouse'"))
      .toEqual({ state: 'never_read', reason: 'waiting', rows: 1_800 });
    expect(await db.value('SELECT count(*) FROM available_credits')).toBe(0);
    await read.finish({ requests: 1, bytes: 1, total: null });
    expect(await db.value("SELECT outcome FROM resource_states WHERE resource = 'warehouse'")).toBe(
      'complete',
    );
  });

  test('sums match their rows after every change', async () => {
    const { db, clock, read } = await stage();
    const three = [
      retirement('a', { beneficiary: 'Ferries', createdAt: '2026-02-01T01:30:00.000Z' }),
      retirement('b', { beneficiary: null, createdAt: null }),
      retirement('c', { beneficiary: 'Ferries' }),
    ];
    await read('retirements', three, { limit: 10, total: 3 });
    clock.at += MINUTE;
    await read('retirements', [...three.slice(0, 1), retirement('c', { beneficiary: 'Bakery' })], {
      limit: 10,
      total: 2,
      findGone: confirmAllGone,
    });
    expect(
      await db.rows('SELECT beneficiary, rows, amount FROM retirements_by_beneficiary ORDER BY 1'),
    ).toEqual([
      { beneficiary: 'Bakery', rows: 1, amount: 12.5 },
      { beneficiary: 'Ferries', rows: 1, amount: 12.5 },
    ]);
    expect(await db.rows('SELECT month, rows FROM retirements_by_month ORDER BY 1')).toEqual([
      { month: '2026-02', rows: 1 },
      { month: '2026-03', rows: 1 },
    ]);
  });
});

async function readState(db: TestMirror['db']) {
  return await db.row(`SELECT first_complete_at, as_of, read_at, stamp_at FROM resource_states
       WHERE resource = 'retirements'`);
}

async function readHistory(db: TestMirror['db'], id: string) {
  return await db.rows<Pick<Credit, 'type'> & { valid_from: string; valid_to: string | null }>(
    'SELECT type, valid_from, valid_to FROM warehouse_credits_history WHERE credit_id = ? ORDER BY version',
    id,
  );
}

async function readRowsAsOf(db: TestMirror['db'], at: string) {
  return await db.rows<Pick<Credit, 'type'>>(
    'SELECT type FROM warehouse_credits_history WHERE valid_from <= ? AND (valid_to IS NULL OR valid_to > ?)',
    at,
    at,
  );
}
