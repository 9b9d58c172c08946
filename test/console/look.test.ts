import { expect, test } from 'vitest';
import { fillOrganizations, writeInstallation } from '../support/mirror/open.js';
import { createPages } from '../../src/console/pages/all-pages.js';
import { STYLE } from '../../src/console/components/style.js';
import { SCRIPT } from '../../src/console/live/page-script.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { MINUTE } from '../support/mirror/open.js';

test('choosing a theme redirects back to the same page and never to another site', async () => {
  const { send, sendRaw: ask, cookie, page } = await openConsoleStage();
  const help = await page('/help');
  expect(help).toContain('<html lang="en">');
  expect(help).toContain('<button name="theme" value="" aria-pressed="true">');
  const chosen = async (to: string) => await send('/theme', { theme: 'dark', to });
  const answer = await chosen('/retirements?vintage=2021');
  expect(answer.headers.get('location')).toBe('/retirements?vintage=2021');
  expect(answer.headers.get('set-cookie')).toMatch(/^carbon-mirror-theme=dark; .*HttpOnly; SameSite=Lax$/);
  for (const to of ['http://evil.example/', '//evil.example', '/\\evil.example', 'x:y'])
    expect((await chosen(to)).headers.get('location'), to).toMatch(/^\/$|^\/x:y$/);
  expect((await chosen('http://console//evil.example')).headers.get('location')).toBe('/evil.example');
  const dark = await ask('GET /help', 'host: localhost', `cookie: ${cookie}; carbon-mirror-theme=dark`);
  expect(dark).toContain('<html lang="en" class="dark">');
  const odd = await ask('GET /help', 'host: localhost', `cookie: ${cookie}; carbon-mirror-theme="><b>`);
  expect(odd).toContain('<html lang="en">');
});

test('the console serves a stylesheet of fewer than 500 lines and a script of at most 15 kB', async () => {
  const { page } = await openConsoleStage();
  expect(await page('/console.css')).toBe(STYLE);
  expect(await page('/console.js')).toBe(SCRIPT);
  expect(STYLE.split('\n').length).toBeLessThan(500);
  expect(SCRIPT.length).toBeLessThan(15_000);
});

test('the navigation marks the section of each page', async () => {
  const { page } = await openConsoleStage();
  const aside = ['/search', '/help'];
  const paths = createPages()
    .map(({ path }) => path)
    .filter(path => !/[.:]/.test(path) && !aside.includes(path));
  for (const path of paths) {
    const shown = (await page(path)).replace(/<details class="menu">.*?<\/details>/s, '');
    expect(shown.match(/<nav aria-label="Pages">.*aria-current="true".*<\/nav>/), path).not.toBeNull();
  }
});

test('Reconciliation shows totals and 20 sums of many organizations, and its files have all', async () => {
  const { scene, page } = await openConsoleStage();
  await fillOrganizations(scene, 30);
  const text = getPageText(await page('/balance'));
  expect(text).toMatch(/Totals.*Checked sums.*and \d+ more/);
  expect((await page('/balance.csv')).match(/^credits,/gm)).toHaveLength(30);
  expect(JSON.parse(await page('/balance.json')).rows.length).toBeGreaterThanOrEqual(30);
});

test('Reconciliation shows its verdict first, then each unbalanced sum with the reason', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  expect(getPageText(await page('/balance'))).toContain('Nothing to reconcile yet.');
  await scene.read('warehouse', [credit('c-1', { amount: amount('100') })]);
  await scene.read('retirements', [retirement('r-1')]);
  expect(getPageText(await page('/balance'))).toMatch(
    /All \d+ checks passed\. Calculated \d+ s ago\. Covers 0 of the 1 known organization\./,
  );
  expect(await page('/balance')).not.toContain('Unbalanced sums');
  await scene.db.change("UPDATE warehouse_credits SET amount_micro = 1 WHERE credit_id = 'c-1'");
  expect(await page('/balance')).toMatch(/<td data-label="Opening, t"[^>]*>0<i>\.000001<\/i>/);
  const wrong = getPageText(await page('/balance'));
  expect(wrong).toMatch(/1 of \d+ checks failed\./);
  expect(wrong).toMatch(/Unbalanced sums.*warehouse c-1/);
});

test('the pages of a credit and a project show their values and history, and an unknown id answers 404', async () => {
  const { scene, page, open } = await openConsoleStage({ now: Date.now });
  scene.clock.at -= 10 * MINUTE;
  await scene.read('warehouse', [credit('c-1', { amount: amount('100') })]);
  scene.clock.at += 9 * MINUTE;
  await scene.read('warehouse', [credit('c-1', { amount: amount('1087.5') })], { claim: 2 });
  const words = getPageText(await page('/warehouse/c-1'));
  expect(words).toContain('1,087.5 t ex-post of Peat bog 2021');
  expect(words).toContain('tonnes: 100 → 1,087.5');
  expect(await page('/warehouse/c-1')).toContain('<title>Credit: 1,087.5 t ex-post of Peat bog 2021 –');
  expect(await page('/warehouse/c-1')).toMatch(
    /<ol class="timeline"><li class="good"><strong>Current version, observed<\/strong>[^]*<li class="none">Observed/,
  );
  for (const path of ['/warehouse/c-9', '/inventory/c-1', '/projects/p-9'])
    expect((await open(path)).status, path).toBe(404);
  const project = getPageText(await page('/projects/project-1'));
  expect(project).toContain(
    'Peat bog The registry does not show this project to the app Available by vintage',
  );
  expect(await page('/projects/project-1')).toContain('href="/inventory?project_id=project-1">Inventory</a>');
});

test('the pages of a project and an organization say how much is not available, where and why', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  const of = (organizationId: string, id: string, tonnes: string, type: string) =>
    credit(id, { organizationId, amount: amount(tonnes), type });
  await scene.read('warehouse', [of('organization-1', 'c-1', '100', 'exPost')]);
  const by = { organizationId: 'organization-2' };
  const other = { id: 'project-2', fullName: 'Kelp' };
  const install = async (state: 'active' | 'suspended') => {
    scene.clock.at += 1;
    await writeInstallation(scene, 2, { state });
  };
  await install('active');
  const credits = [
    of('organization-2', 'c-2', '16924', 'exPost'),
    of('organization-2', 'c-3', '5.5', 'exAnte'),
    { ...of('organization-2', 'c-4', '1', 'exPost'), project: other },
  ];
  await scene.read('warehouse', credits, by);
  const project = async () => getPageText(await page('/projects/project-1'));
  expect(await project()).not.toContain('known organizations');
  expect(await project()).not.toContain('Not available now');
  expect(await page('/')).toMatch(/<td data-label="ex-ante, t"[^>]*><span title="5\.5 t">5</);
  await install('suspended');
  expect(await page('/organizations/organization-2')).toContain('<span class="state none">suspended</span>');
  expect(await project()).toContain(
    'Covers 1 of the 2 known organizations. The warehouse of 1 organization is left out, because it is not fresh.',
  );
  expect(await project()).toContain(
    'Not available now: 16,924 t ex-post and 5.5 t ex-ante OrganizationStateAmount organization-2no access (suspended)16,924 t ex-post and 5.5 t ex-ante',
  );
  expect(getPageText(await page('/projects/project-2'))).toContain(
    'because it is not fresh. Not available now: 1 t ex-post',
  );
  expect(getPageText(await page('/organizations/organization-2'))).toContain(
    'Nothing is available now. The warehouse of 1 organization is left out, because it is not fresh. Not available now: 16,925 t ex-post and 5.5 t ex-ante',
  );
  expect(getPageText(await page('/organizations/organization-1'))).not.toContain('Not available now');
});

test('a printed retirement shows its organization, instant, hash and URL', async () => {
  const { scene, page, port } = await openConsoleStage({ now: Date.now });
  await scene.read('retirements', [retirement('r-1')]);
  const [, sheet = ''] =
    /<dl class="facts only-paper">(.*?)<\/dl>/s.exec(await page('/retirements/r-1')) ?? [];
  expect(getPageText(sheet)).toMatch(
    new RegExp(
      `^Organizationorganization-1 ?Registry.* ?Recorded bycarbon-mirror 1\\.2\\.3As of\\d{4}-.*Printed\\d{4}-.*URLhttp://127.0.0.1:${port}/retirements/r-1\\?as-of=`,
    ),
  );
  expect(sheet).not.toContain('Sandbox');
});
