import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/inbox.js';
import { credit, retirements } from '../../../support/mirror/rows.js';
import { MINUTE, openMirror } from '../../../support/mirror/open.js';

const WAL_FRAME_HEADER_BYTES = 24;

test('a read that finds nothing new writes only the row of its sync', async () => {
  const folder = temporaryFolder();
  const { db, handle, clock, read } = await openMirror({ folder });
  handle.pragma('wal_autocheckpoint = 0');
  await read('retirements', retirements(2_000), { limit: 100, total: 2_000 });
  await read('warehouse', [credit('c-1'), credit('c-2')]);
  const before = await db.rows('SELECT * FROM retirements');
  const walBefore = statSync(join(folder, 'mirror.db-wal')).size;
  clock.at += MINUTE;
  const outcome = await read('retirements', retirements(2_000), { limit: 100, total: 2_000 });
  await read('warehouse', [credit('c-2'), credit('c-1')]);
  expect(outcome).toMatchObject({ state: 'complete', added: 0, changed: 0, removed: 0, unchanged: 2_000 });
  expect(await db.rows('SELECT * FROM retirements')).toEqual(before);
  expect(await db.value("SELECT count(*) FROM past WHERE resource = 'retirements'")).toBe(0);
  const frameBytes = Number(handle.pragma('page_size', { simple: true })) + WAL_FRAME_HEADER_BYTES;
  // Two runs and two states: a dozen pages, whatever the length of the list.
  expect(statSync(join(folder, 'mirror.db-wal')).size - walBefore).toBeLessThan(24 * frameBytes);
});

test('a transaction writes at most 800 rows, new, changed or removed', async () => {
  const { handle: db, clock, read } = await openMirror();
  const count = db.prepare<[], [number, number]>(
    "SELECT (SELECT last FROM version_counter), (SELECT count(*) FROM past WHERE resource = 'warehouse')",
  );
  const [written, closed] = [[1], [0]];
  const exec = db.exec.bind(db);
  db.exec = sql => {
    if (sql !== 'COMMIT') return exec(sql);
    const [versions = 0, past = 0] = count.raw().get() ?? [];
    written.push(versions);
    closed.push(past);
    return exec(sql);
  };
  const credits = (amount: string) =>
    Array.from({ length: 2_000 }, (_, index) => credit(`c-${index}`, { unit: amount }));
  for (const items of [credits('t'), credits('kg'), credits('kg').slice(0, 1_100)]) {
    await read('warehouse', items);
    clock.at += MINUTE;
  }
  const slices = (sums: readonly number[]) =>
    sums
      .slice(1)
      .map((sum, at) => sum - (sums[at] ?? 0))
      .filter(rows => rows > 0);
  expect([written.at(-1), closed.at(-1)]).toEqual([expect.any(Number), 2_900]);
  expect(Math.max(...slices(written))).toBe(800);
  expect(slices(closed).slice(-2)).toEqual([800, 100]);
});
