import { expect, test } from 'vitest';
import { credit, MINUTE, retirement, temporaryScene } from '../support/mirror.js';

const many = (count: number, prefix = 'r') =>
  Array.from({ length: count }, (_, index) => retirement(`${prefix}-${String(index).padStart(5, '0')}`));

test('a first read fills the table, and says that it is complete', async () => {
  const { db, read } = temporaryScene();
  const outcome = await read('retirements', many(250), { limit: 100, total: 250 });
  expect(outcome).toMatchObject({ state: 'complete', added: 250, changed: 0, removed: 0, missing: 0 });
  expect(db.prepare('SELECT count(*) FROM retirements').pluck().get()).toBe(250);
  expect(db.prepare("SELECT rows, state FROM freshness WHERE resource = 'retirements'").get()).toMatchObject({
    rows: 250,
  });
});

test('a read that finds nothing new writes no row', async () => {
  const { db, clock, read } = temporaryScene();
  await read('retirements', many(250), { limit: 100, total: 250 });
  const before = db.prepare('SELECT * FROM retirements').all();
  clock.at += MINUTE;
  const outcome = await read('retirements', many(250), { limit: 100, total: 250 });
  expect(outcome).toMatchObject({ state: 'complete', added: 0, changed: 0, removed: 0, unchanged: 250 });
  expect(db.prepare('SELECT * FROM retirements').all()).toEqual(before);
  expect(db.prepare('SELECT count(*) FROM retirements_past').pluck().get()).toBe(0);
});

test('a changed row opens a version where the old one ends', async () => {
  const { db, clock, read } = temporaryScene();
  await read('warehouse', [credit('c-1'), credit('c-2')]);
  clock.at += MINUTE;
  const outcome = await read('warehouse', [credit('c-1'), credit('c-2', { type: 'exAnte' })]);
  expect(outcome).toMatchObject({ added: 0, changed: 1, unchanged: 1 });
  const history = db
    .prepare(
      'SELECT type, valid_from, valid_to FROM warehouse_credits_history WHERE credit_id = ? ORDER BY version',
    )
    .all('c-2');
  expect(history).toEqual([
    { type: 'exPost', valid_from: '2026-05-04T12:00:00.000Z', valid_to: '2026-05-04T12:01:00.000Z' },
    { type: 'exAnte', valid_from: '2026-05-04T12:01:00.000Z', valid_to: null },
  ]);
});
