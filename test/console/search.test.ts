import { expect, test } from 'vitest';
import { openConsoleStage, getPageText } from '../support/console.js';
import { credit, retirement } from '../support/mirror/rows.js';

async function openSearchableMirror() {
  const stood = await openConsoleStage();
  const { scene, page } = stood;
  await scene.read('retirements', [
    retirement('3f0c5d0e-8a51', { comment: 'for the flight in May' }),
    retirement('91ab', { beneficiary: 'Äpfel & Co', serialization: 'ICR-NOR-7-2-14-R-0-2023' }),
  ]);
  await scene.read('warehouse', [credit('exPost-2-0xabc')]);
  await scene.read('reservations', []);
  const find = async (text: string) => await page(`/search?q=${encodeURIComponent(text)}`);
  return { ...stood, find };
}

test.each([
  ['3f0c', '/retirements/3f0c5d0e-8a51'],
  ['3f0c5d0e-8a51', '/retirements/3f0c5d0e-8a51'],
  ['exPost-2', '/warehouse/exPost-2-0xabc'],
  ['installation-1', '/installations?id=installation-1'],
  ['NOR-7', '/retirements/91ab'],
  ['PFEL & c', '/retirements/91ab'],
  ['flight', '/retirements/3f0c5d0e-8a51'],
])('%s is found, and leads to %s, where it is', async (text, href) => {
  const { find, page } = await openSearchableMirror();
  const found = await find(text);
  expect(found).toContain(`href="${href.replace('&', '&amp;')}"`);
  const [name = ''] = href.split(/[/=]/).slice(-1);
  expect(await page(href)).toContain(name);
});

test('search results of retirements have their date, and a badge if the registry restated them', async () => {
  const { find, scene } = await openSearchableMirror();
  const earlier = { createdAt: '2025-03-01T10:00:00.000Z' };
  await scene.read('retirements', [retirement('91ab', earlier), retirement('old', earlier)]);
  await scene.read('retirements', [
    retirement('91ab', { ...earlier, beneficiary: 'Restated' }),
    retirement('old', earlier),
  ]);
  const findRow = async (id: string) =>
    getPageText(/<ul class="hits"><li>.*?<\/li>/s.exec(await find(id))?.[0] ?? '');
  expect(await findRow('91ab')).toMatch(
    /^91ab 1 Mar 2025, 12\.5 t, .*restated by the registry on \d+ \w{3} \d{4}$/,
  );
  expect(await findRow('old')).toContain('1 Mar 2025, 12.5 t');
  expect(await findRow('old')).not.toContain('restated');
});

test('search finds errors of jobs and syncs, and a number finds the row with that id', async () => {
  const { find, tables } = await openSearchableMirror();
  await tables.change(`INSERT INTO inbox.jobs (id, kind, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, last_error, only_duplicates_asked)
    VALUES (9, 'discover', 'data', 'k', 'person', '{}', 'paused', 1, '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 'no answer within 30 s', 0)`);
  expect(await find('within 30')).toContain('href="/jobs/9"');
  await tables.change(`INSERT INTO inbox.deliveries (id, received_at, event, installation_id, signed_text_sha256, stored_text_id, verdict, secret_index)
    VALUES (12, '2026-05-04T12:00:00.000Z', 'retirement', 'installation-1', '', 1, 'accepted', 0)`);
  const numbered = await find('12');
  expect(numbered).toContain('href="/deliveries/12"');
  expect(numbered).not.toContain('href="/jobs/12"');
  expect(await find('09')).toContain('href="/jobs/9"');
  expect(await find('999')).not.toMatch(/href="\/(deliveries|jobs|syncs)\S*999/);
});

test('search states that it found nothing, and what it covers', async () => {
  const { find } = await openSearchableMirror();
  const words = getPageText(await find('nowhere'));
  expect(words).toContain('Search for “nowhere”');
  expect(words).toContain('0 results');
  expect(words).toContain('in the newest 50,000 rows of each table');
});

test('T83 a search text is escaped and never a pattern', async () => {
  const { find, faults, page } = await openSearchableMirror();
  expect(await find('<img src=x>')).not.toContain('<img');
  for (const text of ['%%', '__', "' or 1=1", '\\\\'])
    expect(getPageText(await find(text)), text).toContain('0 results');
  expect(getPageText(await find('x'))).toContain('Search – carbon-mirror');
  expect(faults).toEqual([]);
  expect(await page('/help')).toContain('<kbd>/</kbd>');
});
