import { expect, test } from 'vitest';
import { getPageText, openConsoleStage } from '../support/console.js';
import { MINUTE } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

const ALL_GONE = { findGone: async (ids: readonly string[]) => ids };

/** Opens a console on a mirror in which a credit was sold and retired between two minutes. */
async function openComparedConsole() {
  const stage = await openConsoleStage({ now: Date.now });
  const { read, clock } = stage.scene;
  clock.at -= 3 * MINUTE;
  await read('warehouse', [credit('c-1'), credit('c-2', { amount: amount('7.5') })]);
  await read('retirements', [retirement('r-1')]);
  const from = new Date(clock.at).toISOString();
  clock.at += MINUTE;
  await read('warehouse', [credit('c-1', { amount: amount('90.5') })], ALL_GONE);
  await read('retirements', [retirement('r-1', { beneficiary: 'Äpfel' }), retirement('r-2')]);
  const to = new Date(clock.at).toISOString();
  return { ...stage, from, query: `from=${from}&to=${to}` };
}

test('two dates are compared with the totals side by side, and with the rows that differ', async () => {
  const { page, query } = await openComparedConsole();
  const markup = await page(`/compare?${query}`);
  const text = getPageText(markup);
  expect(text).toContain('2 credits before, 1 after: 0 added, 1 changed, 1 removed');
  expect(text).toContain('1 retirement before, 2 after: 1 added, 1 changed, 0 removed');
  expect(text).toMatch(/Warehouse ?ex-post ?107\.5.*90\.5.*1 of 1/);
  expect(text).toMatch(/beneficiary ?Harbour Ferries ?Äpfel/);
  expect(text).toContain('never read completely');
  const unread = await page(`/compare?${query}&list=reservations`);
  expect(getPageText(unread)).toContain('never read completely');
  expect(unread).not.toContain('<table');
  expect(markup).toMatch(/<summary>SQL of retirements<\/summary><pre>WITH versions AS/);
  expect(markup).toContain(
    `href="/compare.csv?${new URLSearchParams(query).toString().replaceAll('&', '&amp;')}"`,
  );
});

test('a table of compared rows has columns of changed fields only if a field besides the amount changed', async () => {
  const { page, query } = await openComparedConsole();
  const markup = await page(`/compare?${query}`);
  const [, warehouse = ''] = /<section id="warehouse">([^]*?)<\/section>/.exec(markup) ?? [];
  const [, retirements = ''] = /<section id="retirements">([^]*?)<\/section>/.exec(markup) ?? [];
  expect(getPageText(warehouse)).toContain('Tonnes before');
  expect(warehouse).not.toContain('data-label="Fields"');
  expect(retirements).toContain('data-label="Fields"');
});

test('the files of a comparison have the rows of all lists', async () => {
  const { open, query } = await openComparedConsole();
  const csv = await open(`/compare.csv?${query}`);
  expect(csv.headers.get('content-disposition')).toMatch(
    /^attachment; filename="compare-from-[\w.-]+\.csv"$/,
  );
  const lines = (await csv.text()).trimEnd().split(/\r?\n/);
  expect(lines[0]).toMatch(/^list,change,.*,caveats$/);
  expect(lines.slice(1).map(line => line.split(',').slice(0, 2).join(' '))).toEqual([
    'warehouse changed',
    'warehouse removed',
    'retirements added',
    'retirements changed',
  ]);
  const json: unknown = await (await open(`/compare.json?${query}&list=warehouse`)).json();
  expect(json).toMatchObject({
    organization_id: null,
    warehouse: {
      differences: { added: 0, changed: 1, removed: 1 },
      amounts: [{ type: 'exPost', after: '90.5' }],
    },
  });
});

test('a page as of an instant leads to the comparison with now', async () => {
  const { page, from } = await openComparedConsole();
  expect(await page(`/warehouse?as-of=${from}`)).toContain(
    `href="/compare?from=${encodeURIComponent(from)}"`,
  );
  expect(await page('/changes')).toContain('href="/compare"');
});

test('dates that cannot be compared are refused with a reason, also as files', async () => {
  const { page, open } = await openComparedConsole();
  expect(getPageText(await page('/compare?from=2020'))).toContain(
    'The first instant that can be compared is',
  );
  const lastYear = new Date().getUTCFullYear() - 1;
  expect(await page('/compare')).toContain(`placeholder="${lastYear}-12-31"`);
  expect(getPageText(await page('/compare?from=now&to=2020'))).toContain('is before the earlier date');
  expect(getPageText(await page('/compare?from=soon'))).toContain('Expected a date like');
  for (const query of ['from=2020', 'from=now&to=2020', 'from=soon', 'list=stock', 'nonsense=1'])
    for (const extension of ['csv', 'json'])
      expect((await open(`/compare.${extension}?${query}`)).status, query).toBe(400);
});
