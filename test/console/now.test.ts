import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { amount, credit, retirement, retirements } from '../support/mirror/rows.js';
import { breakReads, fillOrganizations, writeInstallation } from '../support/mirror/open.js';

async function openNowStage(options: Parameters<typeof openConsoleStage>[0] = {}) {
  const { page, ...rest } = await openConsoleStage(options);
  const readHeadline = async () => getPageText(/<h1[^>]*>([^]*?)<\/h1>/.exec(await page('/'))?.[1] ?? '');
  return { ...rest, page, sentence: readHeadline };
}

const HOSTILE = `"><img src=x onerror=alert(1)>`;

test('Now states the available amount exactly and in tables of whole tonnes, its freshness and its issues', async () => {
  const { sentence, scene, page: read } = await openNowStage({ now: Date.now });
  await scene.read('warehouse', [
    credit('c-1', { amount: amount('6300.2') }),
    credit('c-2', { amount: amount('0.000001') }),
  ]);
  expect(await sentence()).toMatch(
    /^6,300\.200001 t ex-post available to sell now in 1 of the 1 known organization$/,
  );
  const page = await read('/');
  const words = getPageText(page);
  expect(words).toMatch(/recorded since today: 6,300\.200001 tTonnes at the end of each day, \d+ \w+ \d{4} /);
  expect(words).toMatch(/Available by project and vintage, whole tonnes, rounded down.*6,300 ?6,300/);
  expect(words).toMatch(
    /Organizations, available whole tonnes, rounded down.*organization-1.* ?6,300 Recent/,
  );
  expect(page.match(/title="6,300\.200001 t"/g)).toHaveLength(5);
  expect(page).toMatch(/>0<\/text>.*>5,000<\/text>.*>10k<\/text>/);
  expect(words).toContain('Attention▲ 2 issues');
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(page).toContain(` id="${target}"`);
});

test('Now names a stale warehouse whose credits are not available, with the reason', async () => {
  const { sentence, scene, page } = await openNowStage();
  scene.clock.at -= 3_600_000;
  await scene.read('warehouse', [credit('c-1')]);
  expect(await sentence()).toMatch(/^0 t available to sell now in 0 of the 1 known organization$/);
  const words = getPageText(await page('/'));
  expect(words).toContain('Not available100 t ex-postorganization-1: stale (overdue)');
  expect(words).toContain('the last complete read is older than two intervals of the schedule');
});

test('Now links the newest webhook and the due jobs to their lists', async () => {
  const { tables, page } = await openConsoleStage();
  await tables.change(`INSERT INTO inbox.deliveries (id, received_at, event, installation_id, signed_text_sha256, stored_text_id,
    verdict, secret_index, duplicates) VALUES (1, '2026-05-04T11:50:00.000Z', 'warehouseTransaction', 'installation-1', 'digest', 1,
    'accepted', 0, 0)`);
  const shown = await page('/');
  expect(shown).toMatch(/<dd><a href="\/deliveries"><time [^>]*>10 min ago<\/time><\/a><\/dd>/);
  expect(shown).toContain('<a href="/jobs?state=waiting">0 due now</a>');
});

test('Now counts fresh warehouses apart from the state of all lists of an organization', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  await scene.read('warehouse', [credit('c-1')]);
  const words = getPageText(await page('/'));
  expect(words).toContain('Fresh warehouses1 of 1known organizations');
  expect(words).toMatch(/OrganizationAll lists[^]*never read/);
});

test('Now and the command status name a suspended organization, its tonnes and who can act', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  await scene.read('warehouse', [credit('c-1', { amount: amount('14337') })]);
  await writeInstallation(scene, 1, { state: 'suspended', claim: 2 });
  const issue = /The app is suspended by organization-1: 14,337 t ex-post off sale for \d+ m?s\./;
  const who = 'Who can act: an administrator of the organization.';
  const words = getPageText(await page('/'));
  expect(words).toMatch(issue);
  expect(words).toContain(who);
  const { stdout } = await runCommand(['status'], { env: { DATA_DIR: scene.folder } });
  expect(stdout).toMatch(issue);
  expect(stdout).toContain(who);
  const json = await runCommand(['status', '--json'], { env: { DATA_DIR: scene.folder } });
  expect(JSON.parse(json.stdout)).toMatchObject({
    suspensions: { organizations: 1, amounts: [{ type: 'exPost', amount_micro: 14_337_000_000 }] },
    issues: expect.arrayContaining([
      expect.objectContaining({ check: 'suspensions', actor: 'administrator', is_severe: false }),
    ]),
  });
});

const HOLD = {
  id: 'h-1',
  creditId: 'c-1',
  serialization: null,
  type: 'exPost',
  project: null,
  reserverId: null,
  reserverName: null,
  state: null,
  isComplete: null,
  createdAt: null,
  updatedAt: null,
};

test('tiles and charts report rows that their sums exclude', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  const unknown = { exact: null, value: null, micro: null, fault: 'no amount' };
  const without = { amount: unknown, document: '{}' };
  const day = new Date(scene.clock.at);
  await scene.read('retirements', [retirement('r-1', { createdAt: day.toISOString(), ...without })]);
  const reservedToDate = new Date(scene.clock.at + 600_000).toISOString();
  await scene.read('reservations', [{ ...HOLD, reservedToDate, ...without }]);
  scene.clock.at -= 3_600_000;
  await scene.read('warehouse', [credit('c-1'), credit('c-2', without)]);
  scene.clock.at += 3_600_000;
  const words = getPageText(await page('/'));
  const left = '1 row without a usable amount is in no total.';
  expect(words).toMatch(
    new RegExp(`Reserved0 t ex-post1 reservation, the first expires in \\d+ min\\. ${left}`),
  );
  expect(words).toContain(`Not available100 t ex-postorganization-1: stale (overdue). ${left}`);
  // In the first hour of a UTC day the read of an hour ago belongs to the day before, so that the chart has two points.
  expect(words).toMatch(
    /(recorded since today:|stayed at) 100 t\. The rows of 1 organization are as last seen, because their lists are not fresh\. 1 row without a usable amount is in no total\./,
  );
  expect(words).toContain(`0 t retired in the last twelve months. ${left}`);
});

test('each issue is shown with its remedy', async () => {
  const { page: read } = await openNowStage();
  const page = getPageText(await read('/'));
  expect(page).toContain('No worker has ever run. Start &quot;carbon-mirror work&quot; (or &quot;up&quot;).');
  expect(page).toContain(
    'No receiver has ever run. Start &quot;carbon-mirror receive&quot; (or &quot;up&quot;).',
  );
});

test('T83 names from the registry are escaped', async () => {
  const { scene, page: read } = await openNowStage();
  const project = { id: 'p-1', fullName: HOSTILE };
  await scene.read('warehouse', [credit('c-1', { project, vintage: HOSTILE, document: '{}' })]);
  const page = await read('/');
  expect(page).not.toContain('<img');
  expect(page).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;');
});

test('an unknown page answers 404', async () => {
  const { open, faults } = await openNowStage();
  const answer = await open('/nothing');
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain('<title>Not found –');
  expect(faults).toEqual([]);
  expect((await open('/')).status).toBe(200);
});

test('pages, downloads and live updates do not block each other', async () => {
  const { scene, open, page, faults } = await openConsoleStage();
  await scene.read('retirements', retirements(500));
  const download = await open('/retirements.csv');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => open(index % 2 ? '/' : '/retirements')),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect((await download.text()).split('\n')).toHaveLength(502);
  expect(await page('/')).toContain('available to sell now');
  expect(faults).toEqual([]);
});

test('available credits are shown by project and vintage, with links and totals', async () => {
  const { scene, page: read } = await openNowStage();
  const project = { id: 'p-2', fullName: 'Kelp & co' };
  await scene.read('warehouse', [
    credit('c-1', { amount: amount('6300.2'), vintage: '2021' }),
    credit('c-2', { amount: amount('0.8'), vintage: '2021' }),
    credit('c-3', { amount: amount('5'), project, vintage: '2022' }),
  ]);
  const page = await read('/');
  const [, matrix = ''] = /<table class="matrix">([^]*?)<\/table>/.exec(page) ?? [];
  expect(matrix).toContain(
    'title="6,301 t"><a href="/warehouse?project_id=project-1&amp;vintage=2021&amp;type=exPost">6,301</a>',
  );
  expect(matrix).toContain('<a href="/projects/p-2">Kelp &amp; co</a>');
  expect(getPageText(matrix)).toContain('ex-post, 2 projects6,30156,306');
});

test('T85 no number adds ex-ante to ex-post, now or as of an instant', async () => {
  const { scene, page: read } = await openConsoleStage({ now: Date.now });
  const of = (id: string, tonnes: string, type: string) =>
    credit(id, { amount: amount(tonnes), vintage: '2021', type });
  await scene.read('warehouse', [of('c-1', '440995', 'exPost'), of('c-2', '63304', 'exAnte')]);
  const page = await read('/');
  expect(getPageText(page)).toContain('440,995 t ex-post and 63,304 t ex-ante available to sell now');
  expect(page).toContain('Stock of ex-post, recorded since today: 440,995 t');
  expect(getPageText(page)).toMatch(/ex-post, 1 project440,995440,995.*ex-ante, 1 project63,30463,304/);
  const then = await read(`/?as-of=${new Date(scene.clock.at).toISOString()}`);
  expect(then).toContain('440,995 t ex-post and 63,304 t ex-ante in the warehouses');
  for (const text of [page, then]) expect(text).not.toContain('504,299');
});

test('an empty mirror shows the webhook URL and whether a webhook has arrived', async () => {
  const { page, scene, tables } = await openConsoleStage({ webhookUrl: 'http://127.0.0.1:8080/webhooks' });
  await scene.db.change('DELETE FROM installations');
  const empty = getPageText(await page('/'));
  expect(empty).toContain('Nothing is mirrored yet');
  expect(empty).toContain('http://127.0.0.1:8080/webhooks');
  expect(empty).toContain('No webhook has arrived yet.');
  await tables.change(
    "INSERT INTO inbox.deliveries (received_at, signed_text_sha256, stored_text_id, verdict, secret_index, duplicates) VALUES ('2026-05-04T12:00:00.000Z', 'd', 1, 'accepted', 0, 0)",
  );
  expect(getPageText(await page('/'))).toContain('A webhook arrived');
});

test('the Reserved tile shows the sum, the first expiry and a link to the reservations', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  const ends = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  await scene.read('reservations', [
    reservation('h-1', { reservedToDate: ends(8.5) }),
    reservation('h-2', { reservedToDate: ends(3.5) }),
    reservation('h-3', { reservedToDate: ends(-1) }),
  ]);
  const shown = await page('/');
  expect(getPageText(shown)).toMatch(/Reserved10 t .*2 reservations, the first expires in 3 min/);
  expect(shown).toContain('<a href="/reservations?state=outstanding">2 reservations</a>');
  await scene.read('reservations', [reservation('h-1', { reservedToDate: ends(8.5) })], { claim: 2 });
  expect(getPageText(await page('/'))).toContain('reservation of 5 t Peat bog by an app removed');
});

test('Now shows 8 organizations, those with problems first and then the largest, and links to the rest', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  await fillOrganizations(scene, 30);
  await breakReads(scene, 'organization-10');
  const shown = async (path: string, part: string) => {
    const { [part]: rows = '' } = Object.fromEntries(
      Array.from(
        (await page(path)).matchAll(/<section id="(\w+)"[^>]*>([^]*?)<\/section>/g),
        ([, id, text]) => [id, text],
      ),
    );
    return Array.from(rows.matchAll(/<tr><td[^>]*>(?:<a[^>]*>)?organization-(\d+)</g), ([, number]) =>
      Number(number),
    );
  };
  const largest = [30, 29, 28, 27, 26, 25, 24];
  expect(await shown('/', 'glance')).toEqual([10, ...largest]);
  expect(await shown('/', 'leftout')).toEqual([10]);
  const home = await page('/');
  expect(home).toContain('<a href="/?all=yes">and 22 more</a>');
  expect(await shown('/?all=yes', 'glance')).toHaveLength(30);
  expect(await page('/?all=yes')).not.toMatch(/and \d+ more/);
});

test('the matrix shows the largest projects and vintages and the sum of the others', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  const some = Array.from({ length: 14 }, (_, index) =>
    credit(`c-${index}`, {
      amount: amount(String(index + 1)),
      project: { id: `p-${index}`, fullName: `Project ${index}` },
      vintage: String(2010 + (index % 10)),
    }),
  );
  await scene.read('warehouse', some);
  const rows = async (path: string) =>
    Array.from((await page(path)).matchAll(/<th scope="row"[^>]*>([^]*?)<\/tr>/g), ([row]) =>
      getPageText(row),
    );
  const shown = await rows('/');
  expect(shown).toHaveLength(14);
  expect(shown[0]).toMatch(/^ex-post, 14 projects\d*105$/);
  expect(shown[1]).toMatch(/^Project 13\d*14$/);
  expect(shown.at(-1)).toMatch(/^2 other projects\d*3$/);
  expect(await page('/')).toContain('<a href="/?all=yes">2 other projects</a>');
  expect(getPageText(await page('/'))).toContain('othersTotal');
  expect(await rows('/?all=yes')).toHaveLength(15);
  const then = `/?as-of=${new Date(Date.now()).toISOString()}`;
  expect(await rows(then)).toEqual(shown);
  expect(await page(then)).toMatch(
    /<a href="\/warehouse\?project_id=p-13&amp;vintage=2013&amp;type=exPost&amp;as-of=/,
  );
});

test('the matrix shows only as many vintages as fit on the screen, and the sum of the others', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  const some = Array.from({ length: 7 }, (_, index) =>
    credit(`c-${index}`, { amount: amount(`10000000${index}`), vintage: String(2010 + index) }),
  );
  await scene.read('warehouse', some);
  const [, heading = ''] = /<table class="matrix">[^]*?<thead>([^]*?)<\/thead>/.exec(await page('/')) ?? [];
  expect(getPageText(heading)).toBe('Project201420152016othersTotal');
});

function reservation(id: string, overrides: { reservedToDate: string }) {
  const item = {
    id,
    creditId: 'c-1',
    serialization: null,
    type: null,
    amount: amount('5'),
    project: { id: 'project-1', fullName: 'Peat bog' },
    reserverId: null,
    reserverName: 'an app',
    state: 'outstanding',
    isComplete: false,
    createdAt: null,
    updatedAt: null,
    ...overrides,
  };
  return { ...item, document: '{}' };
}
