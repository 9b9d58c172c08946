import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage, type SignedInState, saveSignedInState, startBrowser } from './browser.js';
import { type Demo, startDemo } from './demo.js';
import { chooseLength, long } from '../support/long.js';

let demo: Demo;
let browser: Browser;
let signedInState: SignedInState;

beforeAll(async () => {
  [demo, browser] = await Promise.all([startDemo(), startBrowser()]);
  signedInState = await saveSignedInState(browser, await demo.createSignInLink());
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

/** Opens a page for a visitor who is already signed in. */
async function openSignedIn(options: BrowserContextOptions = {}, path = '/'): Promise<Page> {
  const page = await openPage(browser, demo.origin, { ...signedInState, ...options });
  await page.goto(`${demo.origin}${path}`);
  return page;
}

const readHeading = (page: Page) => page.locator('h1').innerText();
const readAttentionTile = (page: Page) => page.locator('.tile', { hasText: 'Attention' }).innerText();

test('the sign-in link opens Now, which states the available amount, at a URL without the key', async () => {
  const page = await openPage(browser, demo.origin);
  await page.goto(await demo.createSignInLink());
  expect(page.url()).toBe(`${demo.origin}/`);
  expect(await readHeading(page)).toMatch(
    /^[\d,.]+ t ex-post\s+and\s+[\d,.]+ t ex-ante\s+available to sell now in \d of the \d known organizations$/,
  );
});

const PARTS = ['document', 'stylesheet', 'script'];

test('the first page with its style and script is less than 60 kB on the wire', async () => {
  const page = await openPage(browser, demo.origin, signedInState);
  const answers: Response[] = [];
  page.on('response', answer => answers.push(answer));
  await page.goto(demo.origin);
  const parts = answers.map(answer => answer.request()).filter(part => PARTS.includes(part.resourceType()));
  const sizes = await Promise.all(parts.map(part => part.sizes()));
  const bytes = sizes.reduce((sum, size) => sum + size.responseHeadersSize + size.responseBodySize, 0);
  expect(parts).toHaveLength(PARTS.length);
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(60_000);
});

test('Now shows a reservation that was made on another page without being reloaded', async () => {
  const now = await openPage(browser, demo.origin, signedInState);
  await now.addInitScript('window.setInterval = () => 0');
  await now.goto(demo.origin);
  await now.evaluate('window.stayed = true');
  const other = await now.context().newPage();
  await other.goto(`${demo.origin}/demo`);
  await other.getByRole('button', { name: 'Reserve 1 t' }).click();
  await expect.poll(() => now.locator('#moved').innerText()).toContain('Reserved 1 t');
  expect(await now.evaluate('window.stayed')).toBe(true);
});

test('the permanent link of a retirement shows the same retirement as of its instant', async () => {
  const page = await openSignedIn({}, '/retirements');
  await page.locator('tbody a').first().click();
  await expect.poll(() => readHeading(page)).toContain('retired');
  expect(await page.locator('#certificate').innerText()).toContain('matches its hash');
  const cited = (await page.locator('.cite a').getAttribute('href')) ?? '';
  const heading = await readHeading(page);
  await page.goto(`${demo.origin}${cited}`);
  expect(await readHeading(page)).toBe(heading);
  expect(await page.locator('form.asof').innerText()).toContain('Showing what the mirror had observed by');
  await page.goto(`${demo.origin}/retirements?as-of=2020`);
  expect(await page.locator('.gaps').innerText()).toContain('not known before');
});

test('the timeline of a delivery shows what it changed, and a manual read finds what a lost webhook did not announce', async () => {
  const page = await openSignedIn({}, '/demo');
  await page.getByRole('button', { name: 'Retire 1 t and watch' }).click();
  await expect.poll(() => page.locator('#moved').innerText()).toContain('A visitor of the demo');
  await page.goto(`${demo.origin}/deliveries`);
  await page.locator('tbody a').first().click();
  await expect.poll(() => page.locator('.timeline').innerText()).toContain('changed');

  const retired = 'SELECT count(*) FROM retirements';
  const before = Number(await demo.tables.value(retired));
  await page.goto(`${demo.origin}/demo`);
  await page.getByRole('button', { name: 'lose its webhook' }).click();
  await page.goto(`${demo.origin}/`);
  await page.getByRole('button', { name: 'Read everything now' }).click();
  await expect.poll(() => demo.tables.value(retired)).toBe(before + 1);
});

long.test('a scheduled read finds the change of a lost webhook and counts it as drift', async () => {
  const page = await openSignedIn({}, '/demo');
  const busy = `SELECT count(*) FROM inbox.jobs WHERE trigger = 'delivery' AND state IN ('waiting', 'running')`;
  await expect.poll(() => demo.tables.value(busy)).toBe(0);
  await page.getByRole('button', { name: 'lose its webhook' }).click();
  await expect.poll(() => page.locator('#done').innerText()).toContain('its webhook was dropped');
  await page.goto(`${demo.origin}/syncs?drift=yes`);
  await demo.tables.change(`INSERT INTO inbox.jobs (kind, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, only_duplicates_asked)
    VALUES ('tick', 'data', 'tick:now', 'schedule', '{"intervalMs":0}', 'waiting', 0, '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 0)`);
  await expect.poll(() => page.locator('#rows tbody tr').count()).toBeGreaterThan(0);
});

long.test('an open page shows that the worker died, and then that another took its place', async () => {
  const page = await openSignedIn();
  const pid = Number(await demo.tables.value(`SELECT max(pid) FROM inbox.processes WHERE role = 'work'`));
  const longAgo = `UPDATE inbox.processes SET seen_at = '2026-05-04T12:00:00.000Z' WHERE role = 'work'`;
  try {
    await expect
      .poll(async () => {
        process.kill(pid, 'SIGSTOP');
        return await demo.tables.change(longAgo).then(
          () => 'told',
          () => process.kill(pid, 'SIGCONT'),
        );
      })
      .toBe('told');
    await expect.poll(() => page.locator('#attention').innerText()).toContain('No worker is running');
    expect(await readAttentionTile(page)).toContain('1 issue');
  } finally {
    process.kill(pid, 'SIGKILL');
  }
  await expect.poll(() => readAttentionTile(page)).toContain('None');
});

long.test('a button compares every row with the registry, and the open page shows the result', async () => {
  const page = await openSignedIn({}, '/balance');
  await page.getByRole('button', { name: 'Compare with the registry' }).click();
  await expect
    .poll(() => page.locator('#registry').innerText())
    .toMatch(/rows of (\d+) of the \1 known organizations match the registry\./);
});

test('a failed job is shown as an issue and is retried by its button', async () => {
  await demo.tables.change(`INSERT INTO inbox.jobs (kind, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, finished_at, last_error, only_duplicates_asked)
    VALUES ('discover', 'data', 'failed', 'person', '{}', 'failed', 10, '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 'it failed', 0)`);
  const page = await openSignedIn();
  expect(await page.locator('#attention').innerText()).toContain('1 job has failed');
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.goto(`${demo.origin}/`);
  await expect.poll(() => readAttentionTile(page)).toContain('None');
});

test('T83 markup in the result of a query is shown as text', async () => {
  const page = await openSignedIn({}, '/ask');
  await page.getByLabel('Read-only SQL').fill(`select '<img src=x onerror=alert(1)>' as word`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  expect(await page.locator('#answer').innerText()).toContain('<img src=x onerror=alert(1)>');
  expect(await page.locator('img').count()).toBe(0);
});

test('pages are complete and forms work without JavaScript', async () => {
  const page = await openSignedIn({ javaScriptEnabled: false });
  expect(await readHeading(page)).toContain('available to sell now');
  await page.getByLabel('Search').fill('Kelp');
  await page.getByLabel('Search').press('Enter');
  expect(await readHeading(page)).toContain('for “Kelp”');
  await page.goto(`${demo.origin}/`);
  await page.getByRole('button', { name: 'Read everything now' }).click();
  expect(page.url()).toContain('/jobs');
});

/** Presses Tab until the element with this name has the focus. Each element on the way must show a focus ring. */
async function tabTo(page: Page, name: string): Promise<void> {
  await page.waitForLoadState();
  for (let stops = 0; stops < 200; stops += 1) {
    await page.keyboard.press('Tab');
    const { text, ring } = await page.evaluate<{ text: string; ring: string }>(
      `({ text: document.activeElement.textContent.trim(), ring: getComputedStyle(document.activeElement).outlineStyle })`,
    );
    expect(ring, text).toBe('solid');
    if (text === name) return;
  }
  throw new Error(`expected a stop called ${name}`);
}

/** Script that stops the timers of a page; the test runs them, and sends change events with `hear`. */
const STOPPED_CLOCK = `window.waiting = [];
window.setTimeout = (work, ms) => window.waiting.push({ work, ms });
window.setInterval = () => 0;
window.EventSource = class extends EventTarget {
  static OPEN = 1;
  readyState = 1;
  constructor() { super(); window.hear = () => this.dispatchEvent(new Event('changed')); }
};`;

test('an open page fetches itself at most once a second, and again after changes during that second', async () => {
  const page = await openPage(browser, demo.origin, signedInState);
  await page.addInitScript(STOPPED_CLOCK);
  let fetches = 0;
  page.on('request', request => (fetches += Number(request.resourceType() === 'fetch')));
  await page.goto(demo.origin);
  const hear = async () => await page.evaluate('for (let times = 0; times < 50; times++) hear()');
  const waiting = async () => await page.evaluate<number[]>('waiting.map(({ ms }) => ms)');
  for (let seconds = 1; seconds <= 3; seconds++) {
    await hear();
    await expect.poll(waiting).toEqual([1000]);
    await hear();
    expect(fetches).toBe(seconds);
    await page.evaluate('waiting.pop().work()');
    await expect.poll(waiting).toEqual([1000]);
    expect(fetches).toBe(seconds + 1);
  }
});

/** Script that makes the intervals of a page twenty times shorter. */
const FAST_CLOCK =
  'const every = window.setInterval; window.setInterval = (work, ms) => every(work, ms / 20);';

test('an open page warns that it may be out of date while it cannot be fetched completely, but not for a 404', async () => {
  const context = await browser.newContext(signedInState);
  const page = await context.newPage();
  await page.addInitScript(FAST_CLOCK);
  await page.goto(`${demo.origin}/deliveries/999999`);
  for (let fetches = 0; fetches < 2; fetches++)
    await page.waitForResponse(answer => answer.request().resourceType() === 'fetch', { timeout: 170_000 });
  const showsStaleNotice = async () => await page.locator('#link').isVisible();
  expect(await showsStaleNotice()).toBe(false);
  for (const answer of [
    { status: 500 },
    { status: 200, contentType: 'text/html', body: '<p class="fault">' },
  ]) {
    await page.route(page.url(), route => route.fulfill(answer));
    await expect.poll(showsStaleNotice).toBe(true);
    await page.unroute(page.url());
    await expect.poll(showsStaleNotice).toBe(false);
  }
  await context.setOffline(true);
  await expect.poll(showsStaleNotice).toBe(true);
  await context.setOffline(false);
  await expect.poll(showsStaleNotice).toBe(false);
  await context.close();
});

/** Returns all pages in a long run, otherwise the first three. */
const selectSome = (pages: readonly string[]) => pages.slice(0, chooseLength(3, pages.length));

test.each(
  [
    ['opened', "document.querySelector('#charts details').open = IS"],
    [
      'selected',
      "IS ? getSelection().selectAllChildren(document.querySelector('#charts')) : getSelection().empty()",
    ],
    ['focused', "IS ? document.querySelector('#charts summary').focus() : document.activeElement.blur()"],
  ].slice(0, chooseLength(1, 3)),
)(
  'a part of a page that the visitor has %s is not updated until it is left, and the others are',
  async (_, act) => {
    const page = await openPage(browser, demo.origin, signedInState);
    await page.addInitScript(FAST_CLOCK);
    await page.goto(demo.origin);
    const isOld = async (part: string) =>
      await page.evaluate(`document.getElementById('${part}').isOld === true`);
    const begin = `for (const part of ['charts', 'tiles']) document.getElementById(part).isOld = true`;
    await page.evaluate(act.replace('IS', 'true'));
    await page.evaluate(begin);
    await expect.poll(() => isOld('tiles')).toBe(false);
    expect(await isOld('charts')).toBe(true);
    await page.evaluate(act.replace('IS', 'false'));
    await expect.poll(() => isOld('available')).toBe(false);
  },
);

long.test(
  'everything can be done by keyboard: Tab reaches each control, / searches and ? opens help',
  async () => {
    const page = await openSignedIn();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('/');
    await page.keyboard.type('exPost');
    await page.keyboard.press('Enter');
    await expect.poll(() => readHeading(page)).toContain('for “exPost”');
    await page.waitForLoadState('domcontentloaded');
    await page.keyboard.press('?');
    await expect.poll(() => readHeading(page)).toBe('Help');

    await tabTo(page, 'SQL');
    await page.keyboard.press('Enter');
    await expect.poll(() => readHeading(page)).toBe('SQL query');
    await tabTo(page, 'Help');
    await page.keyboard.press('Tab');
    await page.keyboard.type('select 6 * 7 as answer');
    await tabTo(page, 'Run');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('#answer').innerText()).toContain('42');

    await tabTo(page, 'Now');
    await page.keyboard.press('Enter');
    await expect.poll(() => readHeading(page)).toContain('available to sell now');
    await tabTo(page, 'Show as a table');
    await page.keyboard.press('Enter');
    expect(await page.locator('#charts details dt').first().isVisible()).toBe(true);
    await page.goto(demo.origin);
    await tabTo(page, 'Read everything now');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('/jobs');
  },
);

const PAGES = [
  '/',
  '/changes',
  '/balance',
  '/warehouse',
  '/retirements?vintage=2020',
  '/deliveries',
  '/jobs',
  '/syncs',
  '/ask',
  '/demo',
  '/search?q=ex',
  '/?as-of=1h',
];

const BRIGHT = 128;
/** Returns the brightness of the page's background: 0 is black, 255 white. */
const measureBrightness = (page: Page) =>
  page.evaluate<number>(
    `Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))`,
  );

test('a browser that prefers a dark theme gets a dark page', async () => {
  expect(await measureBrightness(await openSignedIn())).toBeGreaterThan(BRIGHT);
  expect(await measureBrightness(await openSignedIn({ colorScheme: 'dark' }))).toBeLessThan(BRIGHT);
});

test('no page is wider than a window of 380 pixels', async () => {
  const page = await openSignedIn({ viewport: { width: 380, height: 800 } });
  for (const path of PAGES) {
    await page.goto(`${demo.origin}${path}`);
    const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(wider, path).toBeLessThanOrEqual(0);
  }
});

const THEMES = ['light', 'dark'] as const;

test.each(THEMES)('at 200 % zoom, in %s, no page is cut off or wider than its window', async colorScheme => {
  const page = await openSignedIn({ viewport: { width: 640, height: 400 }, colorScheme });
  for (const path of selectSome([...PAGES, '/help', '/organizations'])) {
    await page.goto(`${demo.origin}${path}`);
    expect(await page.evaluate<string[]>(FIND_CUT_ELEMENTS), path).toEqual([]);
  }
});

/** Script that finds elements that reach beyond the window and do not scroll, or that cut their text without an ellipsis. */
const FIND_CUT_ELEMENTS = `[...document.querySelectorAll('body *')].filter(part => {
  const { left, right } = part.getBoundingClientRect();
  if (!part.checkVisibility() || left < -500) return false;
  const style = getComputedStyle(part);
  const isWide = right > innerWidth + 1 && !part.closest('.wide, .tabs, .filters, object, svg');
  const isCut = part.scrollWidth > part.clientWidth + 1 && style.overflowX === 'hidden' && style.textOverflow !== 'ellipsis';
  return isWide || isCut;
}).map(part => part.outerHTML.slice(0, 100))`;

/** Opens the page of a list's first row as it would be printed, and waits until it has loaded. */
async function openFirstRowForPrint(path: string): Promise<Page> {
  const page = await openSignedIn({}, path);
  await page.locator('tbody a').first().click();
  await page.waitForURL(`**${path}/*`);
  await page.emulateMedia({ media: 'print' });
  return page;
}

test('a printed page has no menu and no form', async () => {
  const page = await openFirstRowForPrint('/retirements');
  expect(await page.locator('header').isVisible()).toBe(false);
  expect(await page.locator('form:visible').count()).toBe(0);
  expect(await page.locator('#facts').isVisible()).toBe(true);
});

test('a printed page shows instants and ids in full, and no ages', async () => {
  const page = await openFirstRowForPrint('/retirements');
  const printed = await page.evaluate<string>(
    `getComputedStyle(document.querySelector('#facts time'), '::after').content`,
  );
  expect(printed).toMatch(/^"\d{4}-\d{2}-\d{2}T[\d:.]+Z"$/);
  expect(await page.locator('#facts .ago:visible').count()).toBe(0);
  expect(await page.locator('#facts .id').first().innerText()).toMatch(
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  );
});
