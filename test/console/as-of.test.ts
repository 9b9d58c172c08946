import { expect, test } from 'vitest';
import { LISTS } from '../../src/resources/lists.js';
import { renderInstant } from '../../src/console/components/instants.js';
import { copyToPastText } from '../support/copy-to-past.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { MINUTE, writeInstallation } from '../support/mirror/open.js';

/** Opens a console over a warehouse and retirements that changed ten minutes after the first read; returns instants before, between and after. */
async function openChangedMirror() {
  const stood = await openConsoleStage({ now: Date.now });
  const { scene } = stood;
  const now = scene.clock.at;
  scene.clock.at = now - 60 * MINUTE;
  await scene.read('warehouse', [credit('c-1', { amount: amount('100') })]);
  await scene.read('retirements', [retirement('r-1', { beneficiary: null })]);
  scene.clock.at = now - 50 * MINUTE;
  await scene.read('warehouse', [credit('c-1', { amount: amount('87.5') })], { claim: 2 });
  await scene.read('retirements', [retirement('r-1'), retirement('r-2')], { claim: 2 });
  const ago = (minutes: number) => new Date(now - minutes * MINUTE).toISOString();
  return { ...stood, before: ago(70), between: ago(55), after: ago(45) };
}

test('every page of data shows what the mirror had observed by an instant', async () => {
  const { page, between, after } = await openChangedMirror();
  const at = async (path: string, instant: string) =>
    getPageText(await page(`${path}${path.includes('?') ? '&' : '?'}as-of=${instant}`));
  expect(await at('/', between)).toContain('100 t ex-post in the warehouses.');
  expect(await at('/', after)).toContain('87.5 t ex-post in the warehouses.');
  expect(await page(`/?as-of=${between}`)).toContain('<section id="stood">');
  expect(await at('/warehouse', between)).toContain('100');
  expect(await at('/retirements', between)).toContain('1 retirement');
  expect(await at('/retirements', after)).toContain('2 retirements');
  expect(await at('/retirements/r-1', between)).toContain('beneficiary unclaimed');
  expect(await at('/retirements/r-1', between)).not.toMatch(/Harbour Ferries|changed 1 time/);
  const now = await at('/retirements/r-1', after);
  for (const said of [
    'for Harbour Ferries',
    'changed 1 time since first observed',
    'Change observed, see the version history',
  ])
    expect(now).toContain(said);
  expect(await at('/organizations/organization-1', between)).toContain('retirements1');
  for (const path of [
    '/',
    '/warehouse',
    '/reservations',
    '/projects',
    '/members',
    '/organizations/organization-1',
  ]) {
    expect(await at(path, between), path).toContain(
      `had observed by ${getPageText(renderInstant(between).text)}.`,
    );
  }
});

test('an organization that was suspended at an instant is named beside the total and on its page', async () => {
  const { page, scene, between, after } = await openChangedMirror();
  const suspendedAt = Date.parse(between) - MINUTE;
  const write = async (state: 'active' | 'suspended', at: number, claim: number) => {
    scene.clock.at = at;
    await writeInstallation(scene, 1, { state, claim });
  };
  await write('suspended', suspendedAt, 3);
  await write('active', Date.parse(after) - MINUTE, 4);
  const shown = async (path: string, at: string) => getPageText(await page(`${path}?as-of=${at}`));
  expect(await shown('/', between)).toContain(
    '100 t ex-post of it could not be sold, because the organizations had suspended or removed the app: organization-1 (suspended).',
  );
  expect(await shown('/', after)).not.toContain('could not be sold, because');
  expect(await shown('/', after)).toContain('including credits that could not be sold then');
  const path = '/organizations/organization-1';
  expect(await shown(path, between)).toContain('suspended at that time, so its credits could not be sold.');
  expect(await shown(path, after)).not.toContain('suspended');
});

test("an organization's page as of an instant shows its stock, and links its lists as of then", async () => {
  const { page, between } = await openChangedMirror();
  const shown = await page(`/organizations/organization-1?as-of=${between}`);
  const asOf = `as-of=${encodeURIComponent(between).replaceAll('&', '&amp;')}`;
  expect(shown).toContain(`<a href="/warehouse?organization_id=organization-1&amp;${asOf}">warehouse</a>`);
  expect(shown).toContain('In the warehouse by project and vintage');
  expect(shown).toMatch(/href="\/warehouse\?organization_id=organization-1&amp;project_id=[^"]*&amp;as-of=/);
  expect(getPageText(shown)).toContain('warehouse1100 t ex-post');
});

test('an as-of URL keeps its rows and names, whatever changes later', async () => {
  const { page, between, scene, tables } = await openChangedMirror();
  const named = (name: string, from: string) =>
    `INSERT INTO organizations (id, full_name, document, version, valid_from, sync_id)
     VALUES ('organization-1', '${name}', '{}', 5000, '${from}', 1)`;
  await tables.change(named('Harbour Then', new Date(Date.parse(between) - MINUTE).toISOString()));
  const paths = [
    '/',
    '/warehouse',
    '/warehouse.csv',
    '/retirements.csv',
    '/retirements.json',
    '/reservations.csv',
  ];
  const all = async () => await Promise.all(paths.map(path => page(`${path}?as-of=${between}`)));
  const before = await all();
  expect(before[1]).toContain('Harbour Then');
  await scene.read('warehouse', [credit('c-1', { amount: amount('1') })], { claim: 3 });
  await scene.read('retirements', [], { claim: 3 });
  const ends = {
    validTo: `'${new Date().toISOString()}'`,
    closedBy: '1',
    closedVersion: '5002',
    isRemoved: '0',
  };
  await tables.change(copyToPastText(LISTS.organization, ends, 'FROM organizations AS v'));
  await tables.change('DELETE FROM organizations');
  await tables.change(named('Harbour Renamed', new Date().toISOString()).replace('5000', '5002'));
  expect(await all()).toEqual(before);
});

test('the files of an as-of page hold exactly the rows of the page', async () => {
  const { page, between } = await openChangedMirror();
  const rows: { id: string; beneficiary: string }[] = JSON.parse(
    await page(`/retirements.json?as-of=${between}`),
  ).rows;
  expect(rows).toMatchObject([{ id: 'r-1', beneficiary: null }]);
  expect(await page(`/retirements.csv?as-of=${between}`)).not.toContain('Harbour Ferries');
});

test('an as-of page states its known gaps', async () => {
  const { page, before, between } = await openChangedMirror();
  const shown = async (path: string) => getPageText(await page(path));
  const unknown = 'organization-1, retirements: not known before';
  expect(await shown(`/retirements?as-of=${before}`)).toContain(unknown);
  expect(await shown(`/?as-of=${before}`)).toContain('organization-1, warehouse: not known before');
  expect(await shown(`/?as-of=${before}`)).toContain('Nothing is known about this list at that time.');
  expect(await shown(`/?as-of=${before}`)).not.toContain('0 t');
  expect(await shown(`/organizations/organization-1?as-of=${before}`)).toContain('not known before');
  expect(await shown(`/retirements?as-of=${between}`)).not.toContain('Known gaps');
});

test.each([
  ['now', false],
  ['1h', false],
  ['2026-05-04', true],
])('an as-of value such as a day or an age redirects to its exact instant: %s', async (said, isBefore) => {
  const { open, page } = await openChangedMirror();
  const answer = await open(`/retirements?vintage=2021&as-of=${said}`);
  expect(answer.status).toBe(303);
  const leads = answer.headers.get('location') ?? '';
  expect(leads).toMatch(/^\/retirements\?vintage=2021&as-of=\d{4}-\d\d-\d\dT[\d%A.]+Z$/);
  expect((await open(leads)).status).toBe(200);
  const instant = new URLSearchParams(leads).get('as-of') ?? '';
  expect(await page(leads)).toContain(`<time datetime="${instant}">`);
  expect((await open(`/retirements.csv?as-of=${said}`)).status).toBe(isBefore ? 400 : 200);
});

test('the example in the as-of field is an instant whose data the mirror knows', async () => {
  const { page, scene } = await openChangedMirror();
  scene.clock.at = Date.now();
  await scene.read('warehouse', [credit('c-1')], { claim: 3 });
  for (const path of ['/', '/warehouse', '/retirements/r-1', '/organizations/organization-1']) {
    const [, shown = ''] = /name="as-of" value="" placeholder="([^"]+)"/.exec(await page(path)) ?? [];
    const then = await page(`/warehouse?as-of=${encodeURIComponent(shown)}`);
    expect(getPageText(then), path).toContain('1 credit');
    expect(getPageText(then), path).not.toContain('Known gaps');
  }
});

test('links of an as-of page keep the instant, except one that leads back to now', async () => {
  const { page, between } = await openChangedMirror();
  const shown = await page(`/retirements?as-of=${between}&vintage=2021`);
  const asOf = `as-of=${encodeURIComponent(between)}`;
  expect(shown).toContain(`href="/retirements/r-1?${asOf}"`);
  expect(shown).toContain(`href="/organizations/organization-1?${asOf}"`);
  expect(shown).toContain(`href="/warehouse?${asOf}"`);
  expect(shown).toContain('href="/retirements?vintage=2021">Back to now</a>');
  expect(await page(`/retirements/r-1?as-of=${between}`)).toContain(
    `href="/organizations/organization-1?${asOf}"`,
  );
  expect(await page('/retirements/r-1')).toContain('href="/organizations/organization-1"');
});

test.each(['soon', '2026-02-30', '2999-01-01', "'; drop table retirements"])(
  'an as-of value that is not a past instant is refused with a sentence: %s',
  async said => {
    const { open, faults } = await openChangedMirror();
    const answer = await open(`/retirements?as-of=${encodeURIComponent(said)}`);
    expect(answer.status).toBe(400);
    expect(getPageText(await answer.text())).toMatch(/Expected a date like|is in the future/);
    expect(faults).toEqual([]);
  },
);

test('the field of the date shows a day as pages write it and accepts it', async () => {
  const { open, page } = await openChangedMirror();
  const { status, headers } = await open('/warehouse?as-of=31+Dec+2025');
  expect(status).toBe(303);
  expect(headers.get('location')).toBe('/warehouse?as-of=2025-12-31T23%3A59%3A59.999Z');
  const shown = await page('/warehouse?as-of=2025-12-31T23:59:59.999Z');
  expect(shown).toContain('value="31 Dec 2025" title="2025-12-31T23:59:59.999Z"');
  expect(shown).toContain('>Overview</a>');
  const instant = await page('/warehouse?as-of=2025-12-31T12:00:00.000Z');
  expect(instant).toContain('value="31 Dec 2025, 12:00:00.000 UTC"');
  const { headers: exact } = await open('/warehouse?as-of=31+Dec+2025,+12:00:00.000+UTC');
  expect(exact.get('location')).toBe('/warehouse?as-of=2025-12-31T12%3A00%3A00.000Z');
});

test('the error page of a date that cannot be read has the field with what was typed', async () => {
  const { open } = await openChangedMirror();
  const answer = await open('/warehouse?as-of=soon');
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('<input name="as-of" value="soon"');
});
