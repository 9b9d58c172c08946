import { describe, expect, test } from 'vitest';
import { readCharts } from '../../src/query/charts.js';
import { ENGINES } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

const DAY_MS = 86_400_000;

describe.each(ENGINES)('$name', ({ library }) => {
  test('the stock of a day counts the credits that were listed at the end of the day', async () => {
    const { stage, reader } = await library();
    const stays = credit('stays', { amount: amount('1') });
    await stage.read('warehouse', [stays, credit('goes', { amount: amount('2') })]);
    stage.clock.at += DAY_MS;
    await stage.read('warehouse', [stays]);
    stage.clock.at += DAY_MS;
    const { stock } = await readCharts(reader, stage.clock.at);
    expect(stock.map(({ points }) => points.map(({ micro }) => micro))).toEqual([
      [3_000_000n, 1_000_000n, 1_000_000n],
    ]);
  });

  test('the retired tonnes of a month include its first instant and exclude the first instant of the next month', async () => {
    const { stage, reader } = await library();
    const dates = ['2026-03-31T23:59:59.999Z', '2026-04-01T00:00:00.000Z', '2026-04-30T23:59:59.999Z'];
    const rows = dates.map((createdAt, index) =>
      retirement(`r-${index}`, { createdAt, amount: amount(String(10 ** index)) }),
    );
    await stage.read('retirements', rows);
    const { retired } = await readCharts(reader, stage.clock.at);
    expect(retired.slice(-3).map(({ name, micro }) => [name, micro])).toEqual([
      ['2026-03', 1_000_000n],
      ['2026-04', 110_000_000n],
      ['2026-05', 0n],
    ]);
  });
});
