import { describe, expect, test } from 'vitest';
import { ENGINES, type TestMirror, MINUTE } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { reservation } from '../support/reservation.js';
import { NOON } from '../support/inbox.js';
import { FINDINGS } from '../../src/query/history/findings.js';

const OTHER = 'ICR-ISL-354-2-14-R-0-2021';

const readFindings = ({ db }: TestMirror) =>
  db.rows(
    'SELECT finding, resource, id, amount_exact, found FROM credit_findings ORDER BY finding, resource, id',
  );

describe.each(ENGINES)('$name', ({ stage }) => {
  test('a correct mirror has no findings', async () => {
    const scene = await stage();
    await scene.read('warehouse', [credit('c-1'), credit('c-2', { serialization: OTHER })]);
    await scene.read('inventory', [credit('c-1')]);
    await scene.read('retirements', [retirement('r-1')]);
    await scene.read('reservations', [reservation('h-1', { creditId: 'c-2', serialization: OTHER })]);
    expect(await readFindings(scene)).toEqual([]);
  });

  test('a negative amount is a finding in every list, and other amounts are not', async () => {
    const scene = await stage();
    await scene.read('warehouse', [
      credit('c-1', { amount: amount('-5') }),
      credit('c-0', { amount: amount('0'), serialization: OTHER }),
    ]);
    await scene.read('retirements', [retirement('r-1', { amount: amount('-0.000001') })]);
    const found = 'its amount is below zero';
    expect(await readFindings(scene)).toEqual([
      { finding: 'negative_amount', resource: 'retirements', id: 'r-1', amount_exact: '-0.000001', found },
      { finding: 'negative_amount', resource: 'warehouse', id: 'c-1', amount_exact: '-5', found },
    ]);
    expect(await scene.db.rows('SELECT * FROM findings WHERE rows > 0')).toEqual([
      { finding: 'negative_amount', rows: 2 },
    ]);
  });

  test('each kind of finding counted alone has the same count as in the whole view', async () => {
    const scene = await stage();
    await scene.read('warehouse', [credit('c-1', { amount: amount('-5') }), credit('c-2')]);
    await scene.read('reservations', [reservation('h-1')]);
    await scene.db.change('UPDATE warehouse_credits SET amount_micro = 7');
    const all = await scene.db.rows<{ finding: string; rows: number }>('SELECT * FROM findings');
    expect(all.map(({ finding }) => finding).toSorted()).toEqual(Object.values(FINDINGS).flat().toSorted());
    expect(all.filter(({ rows }) => rows > 0).length).toBeGreaterThan(1);
    for (const { finding, rows } of all)
      expect(await scene.db.rows('SELECT * FROM findings WHERE finding = ?', finding)).toEqual([
        { finding, rows },
      ]);
  });

  test('a serialization used by two issued credits is a finding that names both, in any letter case', async () => {
    const scene = await stage();
    const twin = { serialization: OTHER.toLowerCase() };
    await scene.read('warehouse', [credit('c-1', { serialization: OTHER }), credit('c-3')]);
    await scene.read('inventory', [credit('c-2', twin), credit('c-4', { ...twin, type: 'exAnte' })]);
    expect(await readFindings(scene)).toMatchObject([
      {
        finding: 'serialization_twice',
        resource: 'inventory',
        id: 'c-2',
        found: expect.stringContaining('c-1'),
      },
      {
        finding: 'serialization_twice',
        resource: 'warehouse',
        id: 'c-1',
        found: expect.stringContaining('c-2'),
      },
    ]);
  });

  test('a reservation of another credit with the same serialization is a finding', async () => {
    const scene = await stage();
    await scene.read('warehouse', [credit('c-1', { serialization: OTHER })]);
    await scene.read('reservations', [reservation('h-1', { creditId: 'c-2', serialization: OTHER })]);
    expect(await readFindings(scene)).toMatchObject([
      { resource: 'reservations', id: 'h-1', found: expect.stringContaining('c-1') },
      { resource: 'warehouse', id: 'c-1', found: expect.stringContaining('c-2') },
    ]);
  });

  test('an expired reservation is a finding if a read an hour later still shows it as outstanding, but not if it has no state', async () => {
    const scene = await stage();
    const ended = [reservation('h-2', { state: 'expired' }), reservation('h-3', { isComplete: true })];
    const later = reservation('h-4', { reservedToDate: new Date(NOON + 60 * MINUTE).toISOString() });
    const unsaid = reservation('h-5', { state: null });
    const all = [reservation('h-1'), ...ended, later, unsaid];
    await scene.read('reservations', all);
    scene.clock.at = NOON + 70 * MINUTE - 1;
    await scene.read('reservations', all);
    expect(await readFindings(scene)).toEqual([]);
    scene.clock.at = NOON + 70 * MINUTE;
    await scene.read('reservations', all);
    expect(await readFindings(scene)).toEqual([
      {
        finding: 'reservation_outlived',
        resource: 'reservations',
        id: 'h-1',
        amount_exact: '1',
        found: 'it ended at 2026-05-04T12:10:00.000Z and is listed as outstanding',
      },
    ]);
  });
});
