import { expect, test } from 'vitest';
import { describeChangeCount } from '../../src/console/components/change-feed.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { amount, credit, retirement, retirements } from '../support/mirror/rows.js';
import { MINUTE } from '../support/mirror/open.js';

test('each change between two instants is a sentence with its cause', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now, demoActions: [] });
  const now = scene.clock.at;
  scene.clock.at = now - 60 * MINUTE;
  await scene.read('warehouse', [credit('c-1')]);
  scene.clock.at = now - 30 * MINUTE;
  await scene.read('warehouse', [credit('c-1', { amount: amount('87.5') })], { claim: 2 });
  await scene.read('retirements', [retirement('r-1')], { claim: 2 });
  const all = getPageText(await page('/changes'));
  expect(all).toContain('3 changes');
  expect(all).toContain('warehouse Peat bog 2021: 100 t → 87.5 t');
  const recent = getPageText(await page('/changes?since=45m'));
  expect(recent).toContain('2 changes');
  const early = getPageText(await page('/changes?since=2h&until=45m'));
  expect(early).toContain('warehouse Peat bog 2021: not listed → 100 t');
  expect(early).not.toContain('87.5');
  expect(getPageText(await page('/changes?resource=retirements'))).toContain('1 change');
  const shown = await page('/changes');
  expect(shown).toMatch(/<a href="\/syncs\?id=\d+">sync \d+<\/a> \(delivery\)/);
  expect(shown).toContain('<a href="/retirements/r-1">retired 12.5 t');
  expect(getPageText(await page('/demo'))).toMatch(/Recent changes in the mirror ?retired 12\.5 t/);
  await scene.db.change("UPDATE syncs SET trigger = 'person'");
  expect(await page('/changes')).toMatch(/<a href="\/syncs\?id=\d+">sync \d+<\/a> \(manual\)/);
});

test.each<[string, string, number, string]>([
  ['organization', 'changed', 1, '1 organization changed'],
  ['warehouse', 'removed', 2, '2 credits in the warehouse removed'],
  ['certificates', 'added', 2, '2 certificates stored'],
  ['inventory_requests', 'added', 1, '1 inventory request added'],
])('a number of changes names its rows: %s %s', (resource, change, count, text) => {
  expect(describeChangeCount(resource, change, count)).toBe(text);
});

test('a day as since starts at its first instant, as until ends at its last, and a future day is refused', async () => {
  const { scene, page, open, clock } = await openConsoleStage();
  scene.clock.at = Date.parse('2026-05-04T00:00:00Z');
  await scene.read('warehouse', [credit('c-1', { amount: amount('2') })]);
  scene.clock.at = Date.parse('2026-05-04T23:59:59.999Z');
  await scene.read('warehouse', [credit('c-1', { amount: amount('1') })], { claim: 2 });
  scene.clock.at += 1;
  await scene.read('warehouse', [credit('c-1', { amount: amount('3') })], { claim: 3 });
  clock.at = scene.clock.at + MINUTE;
  const shown = async (query: string) => getPageText(await page(`/changes?resource=warehouse&${query}`));
  expect(await shown('since=2026-05-04&until=yesterday')).toMatch(
    / 2 changes, 4 May 2026 .*Observed from 4 May 2026, 00:00:00.000 UTC to 4 May 2026, 23:59:59.999 UTC\./,
  );
  expect(await shown('since=2026-05-05')).toMatch(
    / 1 change, 5 May 2026 .*Observed from 5 May 2026, 00:00:00.000 UTC to 5 May 2026, 00:01:00.000 UTC\./,
  );
  expect(await shown('since=2026-05&until=2026')).toMatch(
    / 3 changes, 1 May 2026 to 5 May 2026 .*Observed from 1 May 2026, 00:00:00.000 UTC/,
  );
  expect(await page('/changes')).toContain('since=2026-01&amp;until=2026-03">Last quarter');
  expect(await shown('since=2026-06')).toContain('2026-06 is in the future');
  const file = await open('/changes.csv?since=2027');
  expect(file.status).toBe(400);
  expect(getPageText(await file.text())).toContain('2027 is in the future');
});

test('older changes are on the next page, each shown once, and the files have all of them', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  await scene.read('retirements', retirements(250));
  const seen: string[] = [];
  let address: string | null = '/changes?resource=retirements';
  while (address !== null) {
    const shown: string = await page(address);
    seen.push(...Array.from(shown.matchAll(/href="\/retirements\/([^"]+)"/g), ([, id = '']) => id));
    address = /href="([^"]+)" rel="next"/.exec(shown)?.[1]?.replaceAll('&amp;', '&') ?? null;
  }
  const { rows }: { rows: { row_id: string }[] } = JSON.parse(
    await page('/changes.json?resource=retirements'),
  );
  expect(seen).toHaveLength(250);
  expect(seen).toEqual(rows.map(row => row.row_id).toReversed());
  expect((await page('/changes.csv?resource=retirements')).split('\n')).toHaveLength(252);
});

test('the SQL shown on Changes returns exactly the rows of the page', async () => {
  const { scene, page, send } = await openConsoleStage({ now: Date.now });
  await scene.read('retirements', retirements(150));
  let address: string | null = '/changes?organization_id=organization-1';
  const said: string[] = [];
  while (address !== null) {
    const shown: string = (await page(address))
      .replaceAll('&amp;', '&')
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"');
    const [, rows = ''] = /<section id="rows"([^]*?)<\/section>/.exec(shown) ?? [];
    const [, sql = ''] =
      /SQL of this page<\/summary><pre>([^<]*)</.exec(shown.replaceAll('&lt;', '\u{1}')) ?? [];
    expect(sql).toContain('select project_id from project_references');
    const asked = await send('/ask', {
      sql: sql.replaceAll('\u{1}', '<').replaceAll('&gt;', '>'),
      form: 'csv',
    });
    const found = (await asked.text()).split('\n').length - 2;
    expect(rows.split('class="change"').length - 1).toBe(found);
    said.push(`${/<h1[^>]*>([^<,]*)/.exec(shown)?.[1]}, ${found} of them here`);
    address = /href="([^"]+)" rel="next"/.exec(shown)?.[1] ?? null;
  }
  expect(said).toEqual(['More than 100 changes, 100 of them here', '50 older changes, 50 of them here']);
});

test('Changes says when there are none, and refuses a malformed instant with a sentence', async () => {
  const { page, faults, open } = await openConsoleStage({ now: Date.now });
  expect(getPageText(await page('/changes?since=1ms'))).toContain('0 changes');
  expect(getPageText(await page('/changes?since=soon'))).toContain('Expected a date like');
  expect(getPageText(await page('/changes?until=soon'))).toContain('Expected a date like');
  expect((await open('/changes.csv?since=soon')).status).toBe(400);
  expect(getPageText(await page('/changes?since=1h&until=2h'))).toContain('The range ends at');
  expect(getPageText(await page('/changes?resource=retirement'))).toContain('Did you mean retirements?');
  expect((await open('/changes.json?resource=retirement')).status).toBe(400);
  expect(faults).toEqual([]);
});

test('T83 names on Changes are escaped', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  const project = { id: 'p-1', fullName: '"><img src=x onerror=alert(1)>' };
  await scene.read('warehouse', [credit('c-1', { project, document: '{}' })]);
  expect(await page('/changes')).not.toContain('<img');
});
