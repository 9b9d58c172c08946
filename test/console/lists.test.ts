import { describe, expect, test } from 'vitest';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { amount, credit, retirement, retirements } from '../support/mirror/rows.js';

const HOSTILE = `"><img src=x onerror=alert(1)>`;

const WORDS =
  /^(address|certificate|credit|delivery|installation|job|member|organization|project|request|reservation|retirement|sync|transaction|addresses|deliveries|[\w ]+[^sy]s)$/;

/** Returns the ids of a page of retirements, in the order of its rows. */
function parseRetirementIds(page: string): string[] {
  return Array.from(page.matchAll(/href="\/retirements\/([^"]+)"/g), ([, id = '']) => decodeURIComponent(id));
}

function findNextPageHref(page: string): string | null {
  return /href="([^"]+)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? null;
}

describe('a list', () => {
  test('T85 a row whose list is not fresh carries its state, on its page and in its files', async () => {
    const { scene, page } = await openConsoleStage({ now: Date.now });
    await scene.read('warehouse', [credit('c-1')]);
    expect(/<th[^>]*>Freshness/.test(await page('/warehouse'))).toBe(false);
    expect(await page('/warehouse.csv')).toMatch(/,freshness,failing_since,caveats\n.*,fresh,,\n$/);
    await scene.db.change("UPDATE installations SET state = 'suspended'");
    expect(/<th[^>]*>Freshness/.test(await page('/warehouse'))).toBe(true);
    expect(getPageText(/<tbody>[^]*<\/tbody>/.exec(await page('/warehouse'))?.[0] ?? '')).toMatch(
      /no access \(suspended\)$/,
    );
    expect(await page('/warehouse.csv')).toMatch(/,freshness,failing_since,caveats\n.*,no_access,,\n$/);
    expect(JSON.parse(await page('/warehouse.json'))).toMatchObject({ rows: [{ freshness: 'no_access' }] });
  });

  test('a yes-or-no column shows yes or no instead of 1 or 0', async () => {
    const { scene, page } = await openConsoleStage();
    await scene.read('addresses', [
      { id: 'a-1', address: '0xab', name: 'Main', isDefault: true, document: '{}' },
      { id: 'a-2', address: '0xcd', name: 'Other', isDefault: false, document: '{}' },
    ]);
    const cells = Array.from((await page('/addresses')).matchAll(/<td data-label="Default">([^<]*)</g));
    expect(cells.map(([, value]) => value)).toEqual(['yes', 'no']);
  });

  test('the SQL of a page contains the typed value, even if it contains a schema name', async () => {
    const { page } = await openConsoleStage();
    const shown = (await page('/retirements?beneficiary=mirror.co.uk')).replaceAll('&#39;', "'");
    expect(shown).toContain("LIKE '%mirror.co.uk%'");
    expect(shown).not.toContain('mirror.retirements');
  });

  test('a column that is empty in all rows is left out of the page and kept in the files', async () => {
    const { scene, page } = await openConsoleStage();
    const isShown = async () => /<th[^>]*><a[^>]*>Retired/.test(await page('/retirements'));
    await scene.read('retirements', [retirement('r-1', { createdAt: null })]);
    expect(await isShown()).toBe(false);
    expect(await page('/retirements.csv')).toMatch(/^[^\n]*created_at/);
    await scene.read('retirements', [retirement('r-1')], { claim: 2 });
    expect(await isShown()).toBe(true);
  });

  test.each(ALL_LISTS.map(({ name }) => name))(
    '/%s is served as a page, CSV and JSON, even without rows',
    async path => {
      const { open, page, faults } = await openConsoleStage();
      expect((await open(`/${path}`)).status).toBe(200);
      expect(/<caption>\d+ ([\w ]+)<span/.exec(await page(`/${path}`))?.[1]).toMatch(WORDS);
      expect(await page(`/${path}.csv`)).toMatch(/^[a-z_]+(,[a-z_]+)*\n/);
      expect(Array.isArray(JSON.parse(await page(`/${path}.json`)).rows)).toBe(true);
      expect(faults).toEqual([]);
    },
  );

  test.each(['', '?project=peat'])(
    'shows each row once on its pages, in the order of its files%s',
    async chosen => {
      const { scene, page } = await openConsoleStage();
      const some = retirements(120).map((each, index) => ({
        ...each,
        beneficiary: index % 3 === 0 ? null : `for ${index % 7}`,
        vintage: index % 5 === 0 ? null : String(2015 + (index % 4)),
        createdAt: index % 2 === 0 ? null : '2026-03-01T10:00:00.000Z',
      }));
      await scene.read('retirements', some);
      const whole: { id: string }[] = JSON.parse(await page(`/retirements.json${chosen}`)).rows;
      const seen: string[] = [];
      let address: string | null = `/retirements${chosen}`;
      while (address !== null) {
        const shown: string = await page(address);
        seen.push(...parseRetirementIds(shown));
        address = findNextPageHref(shown);
      }
      expect(whole).toHaveLength(120);
      expect(seen).toEqual(whole.map(({ id }) => id));
      expect(new Set(seen).size).toBe(120);
    },
  );

  test('sorts credits by their tonnes, and the heading links to the other order', async () => {
    const { scene, page } = await openConsoleStage({ now: Date.now });
    const amounts = ['5', '100', '20.5'];
    await scene.read(
      'warehouse',
      amounts.map((tonnes, index) => credit(`c-${index}`, { amount: amount(tonnes) })),
    );
    const read = async (path: string): Promise<string[]> =>
      JSON.parse(await page(path)).rows.map(({ amount_exact: exact }: { amount_exact: string }) => exact);
    expect(await read('/warehouse.json')).toEqual(['100', '20.5', '5']);
    expect(await read('/warehouse.json?sort=largest')).toEqual(['100', '20.5', '5']);
    expect(await read('/warehouse.json?sort=smallest')).toEqual(['5', '20.5', '100']);
    const heading = async (path: string) => /<th[^>]*><a class="sort"[^>]*>/.exec(await page(path))?.[0];
    expect(await heading('/warehouse?type=exPost')).toBe(
      '<th scope="col" class="number" aria-sort="descending"><a class="sort" href="/warehouse?type=exPost&amp;sort=smallest" title="Smallest first">',
    );
    expect(await heading('/warehouse?sort=smallest')).toContain('aria-sort="ascending"');
  });

  test('a retirement that the registry restated carries a badge in the rows of its lists', async () => {
    const { scene, page } = await openConsoleStage({ now: Date.now });
    const year = new Date(scene.clock.at).getUTCFullYear() - 1;
    const createdAt = `${year}-12-30T10:00:00.000Z`;
    const read = async (tonnes: string) =>
      await scene.read(
        'retirements',
        [retirement('r-1', { createdAt, amount: amount(tonnes) }), retirement('r-2')],
        { claim: Number(tonnes) },
      );
    await read('1');
    const before = new Date(scene.clock.at).toISOString();
    scene.clock.at += 1000;
    await read('2');
    const badge =
      /<a class="state doubt" href="\/restatements\?id=r-1">restated<span class="detail"> by the registry on /g;
    expect((await page('/retirements')).match(badge)).toHaveLength(1);
    expect(await page(`/retirements?as-of=${before}`)).not.toMatch(badge);
  });

  test('shows the number of rows and the filters', async () => {
    const { scene, page } = await openConsoleStage();
    await scene.read('retirements', [
      retirement('r-1', { beneficiary: 'Ada & Bo' }),
      retirement('r-2', { beneficiary: 'Ada & Bo' }),
      retirement('r-3', { amount: amount('1.0000001') }),
    ]);
    const all = getPageText(await page('/retirements'));
    expect(all).toContain('3 retirements: 25 t');
    expect(all).toContain('1 row without a usable amount is in no total.');
    const some = await page('/retirements?beneficiary=Ada+%26+Bo');
    expect(getPageText(some)).toContain('2 retirements (beneficiary Ada &amp; Bo): 25 t');
    expect(parseRetirementIds(some)).toEqual(['r-2', 'r-1']);
    const own = await page('/retirements?organization_id=organization-1&vintage=2021');
    expect(getPageText(own)).toContain('3 retirements of organization-1 (vintage 2021): 25 t');
    expect(getPageText(await page('/retirements?as-of=1000d'))).toContain(
      'No retirements are known at that time',
    );
    const none = await page('/syncs?id=99');
    expect(getPageText(none)).toContain('0 syncs (id 99)');
    expect(getPageText(none)).toContain('Show all syncs');
    expect(none).not.toContain('<thead>');
    expect(await page('/members')).not.toContain('Show all');
    const csv = await page('/retirements.csv?beneficiary=Ada+%26+Bo');
    expect(csv.split('\n').map(line => /r-\d/.exec(line)?.[0])).toEqual([undefined, 'r-2', 'r-1', undefined]);
  });

  test('filtered by an organization has only its rows, and the page of the organization links to it', async () => {
    const { scene, page } = await openConsoleStage({ now: Date.now });
    const id = 'organization-2';
    await scene.read('retirements', [retirement('r-1')]);
    await scene.read('retirements', [retirement('r-2', { organizationId: id })], { organizationId: id });
    expect(parseRetirementIds(await page('/retirements'))).toEqual(['r-2', 'r-1']);
    expect(parseRetirementIds(await page('/retirements?organization_id=organization-1'))).toEqual(['r-1']);
    const then = async (whose: string) => await page(`/retirements.json?as-of=now${whose}`);
    expect(JSON.parse(await then('&organization_id=organization-1'))).toMatchObject({
      rows: [{ id: 'r-1' }],
    });
    expect(JSON.parse(await then(''))).toMatchObject({ rows: [{ id: 'r-1' }] });
    expect(parseRetirementIds(await page('/retirements?as-of=now'))).toHaveLength(1);
    expect(await then(`&organization_id=${id}`)).toContain('Nothing is known about this list at that time.');
    const own = await page('/organizations/organization-1');
    for (const path of ['warehouse', 'retirements', 'reservations', 'members', 'certificates', 'projects'])
      expect(own).toContain(`href="/${path}?organization_id=organization-1"`);
    expect(own).toContain('href="/jobs?organization_id=organization-1&amp;state=waiting">Next reads');
  });

  test('groups thousands on the page and keeps the exact digits in files', async () => {
    const { scene, page } = await openConsoleStage();
    const odd = { exact: 'x12345', value: null, micro: null, fault: 'no number' };
    const some = [amount('1234567.000001'), odd].map((each, index) =>
      retirement(`r-${index}`, { amount: each }),
    );
    await scene.read('retirements', some);
    const shown = await page('/retirements');
    for (const text of ['1,234,567<i>.000001</i>', 'x12345']) expect(shown).toContain(`>${text}</td>`);
    expect(await page('/retirements.csv')).toContain(',1234567.000001,');
  });

  test('shows its SQL', async () => {
    const { scene, page } = await openConsoleStage();
    await scene.read('retirements', [retirement('r-1')]);
    const shown = await page(`/retirements?beneficiary=${encodeURIComponent("O'Hara")}`);
    expect(shown).toContain('&#39;%o&#39;&#39;hara%&#39;');
    expect(shown).toMatch(/<pre>SELECT .* FROM .*retirements.* LIMIT 50<\/pre>/);
  });

  test('T83 treats URL values as values, never as SQL, and reports unknown parameters', async () => {
    const { scene, page, open, faults } = await openConsoleStage();
    await scene.read('retirements', [retirement('r-1')]);
    for (const asked of [
      '?after=x',
      '?after=W10',
      `?after=${Buffer.from('[{"a":1},2,3]').toString('base64url')}`,
    ]) {
      const path = `/retirements${encodeURI(asked)}`;
      expect((await open(path)).status, asked).toBe(200);
      expect(parseRetirementIds(await page(path)), asked).toEqual(['r-1']);
    }
    const hostile = "/retirements?beneficiary=' or 1=1 --";
    expect(parseRetirementIds(await page(encodeURI(hostile)))).toEqual([]);
    const unknown = await open('/retirements?document=1');
    expect([unknown.status, getPageText(await unknown.text())]).toEqual([
      400,
      expect.stringContaining('Unknown parameter “document”. Parameters: id, organization_id'),
    ]);
    expect(faults).toEqual([]);
  });
});

test.each([
  ['/?typ=exPost', 'Unknown parameter “typ”. Parameters: all, as-of.'],
  ['/balance?organization=o-1', 'Unknown parameter “organization”. Parameters: organization_id.'],
  [
    '/changes?form=1d',
    'Unknown parameter “form”. Parameters: since, until, organization_id, resource, before.',
  ],
  [
    '/changes.csv?before=5',
    'Unknown parameter “before”. Parameters: since, until, organization_id, resource.',
  ],
  ['/retirements.json?after=x', 'Unknown parameter “after”. Parameters: id, organization_id'],
  ['/jobs?as-of=2025-05-04', 'This page has no history view. Parameters: state, kind'],
  ['/retirements/r-1?at=2025-05-04', 'Unknown parameter “at”. Parameters: as-of.'],
  ['/help?q=x', 'Unknown parameter “q”. This page accepts no parameters.'],
])('an unknown parameter is reported: %s', async (path, sentence) => {
  const { open } = await openConsoleStage();
  const answer = await open(path);
  expect([answer.status, getPageText(await answer.text())]).toEqual([400, expect.stringContaining(sentence)]);
});

test('a sync is found by its number', async () => {
  const { scene, page } = await openConsoleStage();
  await scene.read('retirements', [retirement('r-1')]);
  await scene.read('inventory_requests', []);
  expect(JSON.parse(await page('/syncs.json?id=2'))).toMatchObject({ rows: [{ id: 2 }] });
  const syncs = await page('/syncs');
  expect(syncs).toContain('<td data-label="Resource">inventory requests</td>');
  expect(syncs).not.toContain('name="id"');
});

test.each([
  ['/syncs?id=x', 'Expected a number, got "x".'],
  ['/syncs.json?id=x', 'Expected a number, got "x".'],
  ['/jobs?sort=new', 'Expected one of newest, oldest, got "new".'],
  ['/warehouse.csv?sort=tonnes', 'Expected one of largest, smallest, got "tonnes".'],
  ['/members?sort=newest', 'Unknown parameter “sort”.'],
  ['/jobs?state=dead', 'Expected one of waiting, running, paused, failed, done, got "dead".'],
  ['/retirements.csv?year=last', 'Expected a year like 2025, got "last".'],
  ['/reservations?state=expired&as-of=2026-05-04T12:00:00.000Z', 'state_now is only known for now.'],
])('a filter with an invalid value answers 400 and says what was expected: %s', async (path, said) => {
  const { open } = await openConsoleStage();
  const answer = await open(path);
  expect(answer.status).toBe(400);
  expect(getPageText(await answer.text()).replaceAll('&quot;', '"')).toContain(said);
});

describe('a retirement', () => {
  test('shows its facts, its certificate and what each version changed', async () => {
    const { scene, page } = await openConsoleStage();
    await scene.read('retirements', [retirement('r-1', { beneficiary: null, amount: amount('12.5') })]);
    scene.clock.at += 1000;
    await scene.read('retirements', [retirement('r-1', { amount: amount('12.5') })], { claim: 2 });
    const shown = getPageText(await page('/retirements/r-1'));
    expect(shown).toContain('12.5 t of Peat bog 2021 retired for Harbour Ferries');
    expect(shown).toContain('beneficiary: – → Harbour Ferries');
    expect(shown).toContain('first observed');
  });

  test.each([
    [{ id: 'p-9', fullName: null }, 'p-9'],
    [null, 'an unknown project'],
  ])('without the name of its project %j is titled by %s', async (project, named) => {
    const { scene, page } = await openConsoleStage();
    await scene.read('retirements', [retirement('r-1', { project })]);
    const shown = await page('/retirements/r-1');
    expect(getPageText(shown)).toContain(`12.5 t of ${named} 2021 retired`);
    const link = '<dt>Project</dt><dd><a href="/projects/p-9">p-9</a></dd>';
    expect(/<h2>Credits.*?<\/dl>/s.exec(shown)?.[0].includes(link)).toBe(project !== null);
  });

  test('T83 is escaped, whatever the registry names it', async () => {
    const { scene, page } = await openConsoleStage();
    const names = { beneficiary: HOSTILE, comment: HOSTILE, project: { id: 'p', fullName: HOSTILE } };
    await scene.read('retirements', [retirement('r-1', names)]);
    for (const path of ['/retirements', '/retirements/r-1']) {
      expect(await page(path), path).not.toContain('<img');
      expect(await page(path), path).toContain('&lt;img');
    }
  });

  test('that is unknown answers 404', async () => {
    const { open } = await openConsoleStage();
    for (const path of [
      '/retirements/x',
      '/organizations/x',
      '/deliveries/1',
      '/deliveries/x',
      '/jobs/9e9',
      '/jobs/1',
    ]) {
      expect((await open(path)).status, path).toBe(404);
    }
  });
});

test('filters by day keep the rows between them, and an impossible day is reported', async () => {
  const { scene, page, open } = await openConsoleStage({ now: Date.now });
  await scene.read('retirements', [
    retirement('r-1', { createdAt: '2025-05-29T23:59:59.999Z' }),
    retirement('r-2', { createdAt: '2025-05-30T00:00:00.000Z' }),
    retirement('r-3', { createdAt: '2025-06-02T12:00:00.000Z' }),
  ]);
  const found = async (query: string) => parseRetirementIds(await page(`/retirements?${query}`)).toReversed();
  expect(await found('from=2025-05-30')).toEqual(['r-2', 'r-3']);
  expect(await found('until=2025-05-29')).toEqual(['r-1']);
  expect(await found('from=2025-05-30&until=2025-05-31')).toEqual(['r-2']);
  expect((await open('/retirements?from=2025-02-30')).status).toBe(400);
  expect(await page('/retirements')).toContain('<input type="date" name="from"');
  expect(await page('/retirements')).not.toContain('name="year"');
  expect(await page('/retirements?year=2025')).toContain('name="year" value="2025"');
});

test('type, vintage, verdict and organization are chosen from lists', async () => {
  const { scene, page } = await openConsoleStage({ now: Date.now });
  await scene.read('warehouse', [credit('c-1', { vintage: '2021' }), credit('c-2', { vintage: '2019' })]);
  const warehouse = await page('/warehouse');
  expect(warehouse).toContain('<option value="exPost">ex-post</option>');
  expect(warehouse).toMatch(/<option value="2019">2019<\/option><option value="2021">/);
  const deliveries = await page('/deliveries');
  expect(deliveries).toContain('<option value="accepted">accepted</option><option value="ignored">');
  expect(deliveries).toContain('<option value="installation-1">organization-1</option>');
  expect(deliveries).not.toContain('name="ignored"');
});

test('a project that the registry does not show is on the page of projects and in the filter of its credits', async () => {
  const { scene, page } = await openConsoleStage();
  await scene.read('warehouse', [credit('c-1')]);
  const projects = await page('/projects');
  expect(getPageText(projects)).toContain(
    'Projects known only from credits and retirementsThe registry does not show them to the app, or has not been asked for them yet.Peat bog',
  );
  expect(projects).toContain('<li><a href="/projects/project-1">Peat bog</a></li>');
  expect(await page('/warehouse')).toContain('<option value="project-1">Peat bog</option>');
});
