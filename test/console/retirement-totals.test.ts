import { expect, test } from 'vitest';
import { getPageText, openConsoleStage } from '../support/console.js';
import { amount, retirement } from '../support/mirror/rows.js';

async function openRetirements() {
  const stage = await openConsoleStage({ now: Date.now });
  await stage.scene.read('retirements', [
    retirement('r-1', { amount: amount('1.5'), beneficiary: 'Ada', createdAt: '2025-11-30T00:00:00.000Z' }),
    retirement('r-2', { amount: amount('2'), beneficiary: null, createdAt: '2025-12-31T00:00:00.000Z' }),
  ]);
  return stage;
}

test('the totals of retirements are a page that is linked from the list, and a file', async () => {
  const { page, open } = await openRetirements();
  expect(await page('/retirements?year=2025')).toContain('href="/retirement-totals?year=2025"');
  expect(await page('/warehouse')).not.toContain('/retirement-totals');
  const markup = await page('/retirement-totals?by=beneficiary&by=month');
  expect(markup).toMatch(/data-label="Beneficiary".*data-label="Retirements"/);
  expect(getPageText(markup)).toContain('2 retirements: 3.5 t');
  expect(getPageText(markup)).toMatch(/unclaimed ?2025-12 ?2.*Ada ?2025-11 ?1\.5/);
  expect(markup).toContain('name="by" value="month" checked');
  const year = new Date().getUTCFullYear() - 1;
  expect(await page('/retirement-totals?from=2025-03-01')).toContain(
    `<a href="/retirement-totals?year=${year}&amp;as-of=${year}-12-31">${year} as of its end</a>`,
  );
  const file = await open('/retirement-totals.csv?by=month');
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="retirement-totals.csv"');
  expect(await file.text()).toMatch(
    /^month,amount_exact,rows,rows_without_amount,caveats\r?\n2025-11,1\.5,1,0,/,
  );
});

test('T108 a misspelled grouping or filter of the totals is refused', async () => {
  const { open } = await openRetirements();
  for (const query of ['by=monht', 'by=id', 'year=25', 'nonsense=1', 'as-of=never'])
    for (const path of ['/retirement-totals', '/retirement-totals.csv', '/retirement-totals.json'])
      expect((await open(`${path}?${query}`)).status, `${path}?${query}`).toBe(400);
});
