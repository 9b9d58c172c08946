import { expect, test } from 'vitest';
import { type AmountPoint, readCharts } from '../../src/query/charts.js';
import { openFilledMirror, writeInstallation } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 4, 15, 12);
const ALL_GONE = { findGone: async (ids: readonly string[]) => ids };

const tonnesIn = (points: readonly AmountPoint[] = []) =>
  Object.fromEntries(points.map(({ name, micro }) => [name, Number(micro) / 1_000_000]));

test('the stock of a day is the stock at its end, starting with the first known day', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 1, at: NOON - 2 * DAY_MS });
  clock.at = NOON - DAY_MS;
  await read('warehouse', [credit('c-1-0'), credit('c-2', { amount: amount('5') })]);
  clock.at = NOON;
  await read('warehouse', [credit('c-2', { amount: amount('5') })], ALL_GONE);
  const { stock } = await readCharts(reader, NOON);
  expect(stock.map(({ type }) => type)).toEqual(['exPost']);
  expect(tonnesIn(stock[0]?.points)).toEqual({ '2026-05-13': 100, '2026-05-14': 105, '2026-05-15': 5 });
});

test('a credit that came and went on one day is in the stock of no day', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 1, at: NOON - DAY_MS });
  clock.at += 1_000;
  await read('warehouse', [credit('c-1-0'), credit('c-2', { amount: amount('5') })]);
  clock.at += 1_000;
  await read('warehouse', [credit('c-1-0')], ALL_GONE);
  const { stock } = await readCharts(reader, NOON);
  expect(tonnesIn(stock[0]?.points)).toEqual({ '2026-05-14': 100, '2026-05-15': 100 });
});

test('each type has a series, and credits without an amount are counted separately', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 1, at: NOON });
  clock.at += 1_000;
  const odd = credit('c-3', {
    type: 'exAnte',
    amount: { exact: 'x', value: 0, micro: null, fault: 'no number' },
  });
  await read('warehouse', [credit('c-1-0'), odd]);
  const { stock } = await readCharts(reader, NOON);
  expect(stock).toEqual([
    { type: 'exAnte', points: [{ name: '2026-05-15', micro: 0n, rows_without_amount: 1 }] },
    { type: 'exPost', points: [{ name: '2026-05-15', micro: 100_000_000n, rows_without_amount: 0 }] },
  ]);
});

test('a month includes the retirements from its first instant until just before the next month', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 1, at: NOON });
  const dates = [
    ['2025-05-31T23:59:59.999Z', '1'],
    ['2025-06-01T00:00:00.000Z', '2'],
    ['2026-04-30T23:59:59.999Z', '4'],
    ['2026-05-01T00:00:00.000Z', '8'],
    ['2026-05-31T23:59:59.999Z', '16'],
    ['2026-06-01T00:00:00.000Z', '32'],
  ] as const;
  const items = dates.map(([createdAt, tonnes], index) =>
    retirement(`r-${index}`, { createdAt, amount: amount(tonnes) }),
  );
  await read('retirements', items, ALL_GONE);
  const { retired } = await readCharts(reader, NOON);
  expect(retired).toHaveLength(12);
  const months = Object.entries(tonnesIn(retired)).filter(([, tonnes]) => tonnes > 0);
  expect(months).toEqual([
    ['2025-06', 2],
    ['2026-04', 4],
    ['2026-05', 24],
  ]);
});

test('an organization that uninstalled the app is in no chart', async () => {
  const filled = await openFilledMirror({ organizations: 2, at: NOON });
  await writeInstallation(filled, 2, { state: 'uninstalled', claim: 2 });
  const charts = await readCharts(filled.reader, NOON);
  expect(tonnesIn(charts.stock[0]?.points)).toEqual({ '2026-05-15': 100 });
  expect(charts.stockNotes.coverage).toEqual({ counted: 1, known: 1, missing: 0 });
  expect(charts.retiredNotes.coverage).toEqual({ counted: 1, known: 1, missing: 0 });
});
