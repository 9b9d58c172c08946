import { expect, test } from 'vitest';
import { renderCell } from '../../src/console/components/table-cell.js';
import { renderInstant } from '../../src/console/components/instants.js';
import { describeDateForms } from '../../src/text/time-range.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { MINUTE } from '../support/mirror/open.js';

const ID = '7023a782-0000-4000-8000-000000000001';
const OTHER = '7023b000-0000-4000-8000-000000000002';

async function openFilterStage() {
  const stood = await openConsoleStage({ now: Date.now });
  const { scene } = stood;
  await scene.read('warehouse', [credit('c-1'), credit('c-2', { type: 'exAnte' })]);
  await scene.read('retirements', [retirement(ID), retirement(OTHER), retirement('r-1'), retirement('r-10')]);
  const refused = async (path: string) => {
    const answer = await stood.open(path);
    return { status: answer.status, words: getPageText(await answer.text()).replaceAll('&quot;', '"') };
  };
  return { ...stood, refused };
}

test('a value in any spelling is shown in its usual one, and chosen in its field', async () => {
  const { page } = await openFilterStage();
  const shown = await page('/warehouse?type=EX-POST');
  expect(getPageText(shown)).toContain('1 credit (type ex-post): 100 t ex-post');
  expect(shown).toContain('<option value="exPost" selected>ex-post</option>');
  expect(shown).toContain('>Filters (1)</button>');
  expect(await page('/warehouse')).toContain('>Filters</button>');
});

test.each([
  ['/warehouse?type=exPast', 'Did you mean exPost'],
  ['/warehouse.csv?vintage=21', 'a range like 2020..'],
  ['/deliveries?event=suspnded', 'Did you mean suspended'],
  ['/syncs.json?trigger=shedule', 'Did you mean schedule'],
  ['/jobs?state=faild', 'Did you mean failed'],
  ['/deliveries?ignored=no', 'Expected "yes"'],
  ['/retirements?from=2026-13', 'Expected a date like'],
  ['/retirements?organization_id=organisation-1', 'There is no organization "organisation-1"'],
  ['/balance?organization_id=organisation-1', 'There is no organization "organisation-1"'],
  ['/changes.csv?organization_id=organisation-1', 'There is no organization "organisation-1"'],
  ['/changes.csv?resource=retirement', 'Did you mean retirements'],
  ['/deliveries?installation_id=instalation-1', 'There is no installation "instalation-1"'],
])('a wrong value is refused with what is near: %s', async (path, said) => {
  const { refused } = await openFilterStage();
  const { status, words } = await refused(path);
  expect({ status, words }).toEqual({ status: 400, words: expect.stringContaining(said) });
});

test.each(['/retirements?id=%00', '/retirements?beneficiary=a%00', '/retirements/%00', '/jobs/%00'])(
  'T108 a value that no database can hold is refused: %s',
  async path => {
    const { refused } = await openFilterStage();
    expect((await refused(path)).status).toBe(400);
  },
);

test('lists, Changes and Reconciliation accept an organization by id, beginning of an id or name', async () => {
  const { page } = await openFilterStage();
  for (const path of ['/retirements.json', '/changes.json']) {
    const exact = await page(`${path}?organization_id=organization-1`);
    const parsed = JSON.parse(exact);
    expect((parsed.rows ?? parsed).length).toBeGreaterThan(0);
    expect(await page(`${path}?organization_id=organizat`)).toBe(exact);
  }
  const exact = await page('/balance?organization_id=organization-1');
  expect(getPageText(await page('/balance?organization_id=Organizat'))).toContain('organization-1');
  expect(getPageText(exact)).toContain('organization-1');
});

test('a long id is shortened in lists, and a detail page shows it in full', async () => {
  const { page } = await openFilterStage();
  const shortened = `<span class="id" title="${ID}">7023a782</span>`;
  expect(renderCell('retirement_id', ID, 0).text).toBe(shortened);
  expect(await page(`/retirements/${ID}`)).not.toContain(shortened);
});

test('an id that no row has is reported', async () => {
  const { page } = await openFilterStage();
  const shown = async (path: string) => getPageText(await page(path)).replaceAll('&quot;', '"');
  expect(await shown('/retirements?id=zz')).toContain('There is no retirement "zz".');
  expect(await shown('/installations?id=zz')).toContain('There is no installation "zz".');
});

test('free text without a match suggests similar values', async () => {
  const { page } = await openFilterStage();
  const shown = getPageText(await page('/retirements?beneficiary=Harbor')).replaceAll('&quot;', '"');
  expect(shown).toContain('No retirement has "Harbor" in its beneficiary.');
  expect(shown).toContain('"Harbour Ferries"');
});

test.each([
  [`/retirements/${ID.slice(0, 8)}`, `/retirements/${ID}`],
  [
    `/retirements/${ID.slice(0, 8)}?as-of=now`,
    /^\/retirements\/7023a782-0000-4000-8000-000000000001\?as-of=\d{4}/,
  ],
  ['/retirements/7023', '/retirements?id=7023'],
  ['/organizations/organizat', '/organizations/organization-1'],
  ['/projects/projec', '/projects/project-1'],
])('the beginning of an id leads on: %s', async (path, leads) => {
  const { open, page } = await openFilterStage();
  let answer = await open(path);
  let location = answer.headers.get('location') ?? '';
  if (location.startsWith(path.split('?')[0] ?? '') && location.includes('as-of') && !location.includes(ID)) {
    answer = await open(location);
    location = answer.headers.get('location') ?? '';
  }
  expect(answer.status).toBe(303);
  expect(location).toEqual(typeof leads === 'string' ? leads : expect.stringMatching(leads));
  expect(await page(location)).toContain('<h1');
});

test.each([
  ['/retirements/zz', 'No retirement with the id “zz”.'],
  ['/organizations/zz', 'No organization with the id “zz”.'],
  ['/projects/zz', 'No project with the id “zz”.'],
  ['/warehouse/zz', 'No credit with the id “zz”.'],
  ['/inventory/zz', 'No credit with the id “zz”.'],
  ['/deliveries/99', 'No delivery with the id “99”.'],
  ['/jobs/99', 'No job with the id “99”.'],
])('what is missing is named: %s', async (path, said) => {
  const { refused } = await openFilterStage();
  const { status, words } = await refused(path);
  expect({ status, words }).toEqual({ status: 404, words: expect.stringContaining(said) });
});

test('the pages of a credit and a project show what the mirror had observed by an instant', async () => {
  const { scene, page, open } = await openConsoleStage({ now: Date.now });
  const now = scene.clock.at;
  const of = (tonnes: string) =>
    credit('c-1', { amount: amount(tonnes), project: { id: 'p-1', fullName: 'Peat bog' } });
  scene.clock.at = now - 60 * MINUTE;
  await scene.read('warehouse', [of('100')]);
  scene.clock.at = now - 50 * MINUTE;
  await scene.read('warehouse', [of('87.5')], { claim: 2 });
  const ago = (minutes: number) => new Date(now - minutes * MINUTE).toISOString();
  const [before, between, after] = [ago(70), ago(55), ago(45)];
  const at = async (path: string, instant: string) => getPageText(await page(`${path}?as-of=${instant}`));
  expect(await at('/warehouse/c-1', between)).toMatch(/100 t ex-post of Peat bog/);
  expect(await at('/warehouse/c-1', between)).not.toContain('87.5');
  expect(await at('/warehouse/c-1', after)).toMatch(/87\.5 t ex-post of Peat bog/);
  expect(await at('/warehouse/c-1', before)).toContain('was not in the mirror at that time');
  expect(await at('/projects/p-1', between)).toContain('100');
  expect(await at('/projects/p-1', after)).toContain('87');
  expect(await at('/projects/p-1', before)).toContain('was not in the mirror at that time');
  expect(await page(`/projects/p-1?as-of=${between}`)).toContain(
    `/warehouse?project_id=p-1&amp;as-of=${encodeURIComponent(between)}`,
  );
  for (const path of ['/warehouse/c-1', '/projects/p-1']) {
    expect(await at(path, between)).toContain(`had observed by ${getPageText(renderInstant(between).text)}.`);
    expect((await open(`${path}?as-of=soon`)).status).toBe(400);
  }
  await scene.read('warehouse', [of('1')], { claim: 3 });
  expect(await at('/warehouse/c-1', between)).toMatch(/100 t ex-post of Peat bog/);
});

test.each([
  ['/changes', 'Since start of', 'start'],
  ['/changes', 'Until end of', 'end'],
  ['/compare', 'From end of', 'end'],
  ['/compare', 'To end of', 'end'],
  ['/warehouse', 'As of end of', 'end'],
])('on %s the field "%s" explains dates in the words of the commands', async (path, label, edge) => {
  const { page } = await openConsoleStage({ now: Date.now });
  const field = (await page(path)).match(new RegExp(`<label[^>]*title="([^"]*)"[^>]*>${label}<input`));
  expect(field?.[1]?.toLowerCase()).toContain(
    describeDateForms(edge === 'start' ? 'start' : 'end', 0)
      .replace(/, an instant.*/, '')
      .toLowerCase(),
  );
});
