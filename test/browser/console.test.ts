import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage, type Remembered, rememberVisit, startBrowser } from './browser.js';
import { type Demo, startDemo } from './demo.js';
import { atLength, long } from '../support/long.js';

let demo: Demo;
let browser: Browser;
let visitor: Remembered;

beforeAll(async () => {
  [demo, browser] = await Promise.all([startDemo(), startBrowser()]);
  visitor = await rememberVisit(browser, await demo.address());
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

/** A visitor who was let in before. */
async function visit(options: BrowserContextOptions = {}, path = '/'): Promise<Page> {
  const page = await openPage(browser, demo.origin, { ...visitor, ...options });
  await page.goto(`${demo.origin}${path}`);
  return page;
}

const sentence = (page: Page) => page.locator('h1').innerText();
/** What the tile says that tells whether anything needs attention. */
const attention = (page: Page) => page.locator('.tile', { hasText: 'Attention' }).innerText();

test('the printed address opens a page that says what is available, and the key is in no address after it', async () => {
  const page = await openPage(browser, demo.origin);
  await page.goto(await demo.address());
  expect(page.url()).toBe(`${demo.origin}/`);
  expect(await sentence(page)).toMatch(
    /^[\d,.]+ t ex-post\s+and\s+[\d,.]+ t ex-ante\s+available to sell now in \d of the \d known organizations$/,
  );
});

const PARTS = ['document', 'stylesheet', 'script'];

test('the first page is small as a browser receives it, its style and script included', async () => {
  const page = await openPage(browser, demo.origin, visitor);
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

test('an operator: Now follows a reservation that is made elsewhere as the console tells of it, without being loaded anew', async () => {
  const now = await openPage(browser, demo.origin, visitor);
  await now.addInitScript('window.setInterval = () => 0');
  await now.goto(demo.origin);
  await now.evaluate('window.stayed = true');
  const other = await now.context().newPage();
  await other.goto(`${demo.origin}/demo`);
  await other.getByRole('button', { name: 'Reserve 1 t' }).click();
  await expect.poll(() => now.locator('#moved').innerText()).toContain('Reserved 1 t');
  expect(await now.evaluate('window.stayed')).toBe(true);
});

test('an auditor: a retirement with its certificate, as of an instant, by an address that shows the same', async () => {
  const page = await visit({}, '/retirements');
  await page.locator('tbody a').first().click();
  await expect.poll(() => sentence(page)).toContain('retired');
  expect(await page.locator('#certificate').innerText()).toContain('matches its hash');
  const cited = (await page.locator('.cite a').getAttribute('href')) ?? '';
  const said = await sentence(page);
  await page.goto(`${demo.origin}${cited}`);
  expect(await sentence(page)).toBe(said);
  expect(await page.locator('form.asof').innerText()).toContain('Showing what the mirror had observed by');
  await page.goto(`${demo.origin}/retirements?as-of=2025`);
  expect(await page.locator('.gaps').innerText()).toContain('not known before');
});

test('a developer: a webhook came, and its strip says what it changed; a lost one is found by reading', async () => {
  const page = await visit({}, '/demo');
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

long.test('a webhook that is lost becomes drift that is seen, once the schedule has read', async () => {
  const page = await visit({}, '/demo');
  const busy = `SELECT count(*) FROM inbox.jobs WHERE trigger = 'delivery' AND state IN ('waiting', 'running')`;
  await expect.poll(() => demo.tables.value(busy)).toBe(0);
  await page.getByRole('button', { name: 'lose its webhook' }).click();
  await expect.poll(() => page.locator('#done').innerText()).toContain('its webhook was dropped');
  await page.goto(`${demo.origin}/syncs?drift=yes`);
  await demo.tables.change(`INSERT INTO inbox.jobs (kind, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, only_duplicates_asked)
    VALUES ('tick', 'data', 'tick:now', 'schedule', '{"intervalMs":0}', 'waiting', 0, '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 0)`);
  await expect.poll(() => page.locator('#rows tbody tr').count()).toBeGreaterThan(0);
});

long.test(
  'a worker that died is seen on a page that is open, and so is the one that takes its place',
  async () => {
    const page = await visit();
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
      expect(await attention(page)).toContain('1 issue');
    } finally {
      process.kill(pid, 'SIGKILL');
    }
    await expect.poll(() => attention(page)).toContain('None');
  },
);

long.test(
  'an auditor: every row is compared with the registry by a button, and the page follows to what came of it',
  async () => {
    const page = await visit({}, '/balance');
    await page.getByRole('button', { name: 'Compare with the registry' }).click();
    await expect
      .poll(() => page.locator('#registry').innerText())
      .toMatch(/rows of (\d+) of the \1 known organizations match the registry\./);
  },
);

test('a failed job stands under what needs attention, and is tried again by its button', async () => {
  await demo.tables.change(`INSERT INTO inbox.jobs (kind, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, finished_at, last_error, only_duplicates_asked)
    VALUES ('discover', 'data', 'failed', 'person', '{}', 'failed', 10, '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 'it failed', 0)`);
  const page = await visit();
  expect(await page.locator('#attention').innerText()).toContain('1 job has failed');
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.goto(`${demo.origin}/`);
  await expect.poll(() => attention(page)).toContain('None');
});

test('T83 a question is asked and answered, and what looks like markup stays text', async () => {
  const page = await visit({}, '/ask');
  await page.getByLabel('Read-only SQL').fill(`select '<img src=x onerror=alert(1)>' as word`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  expect(await page.locator('#answer').innerText()).toContain('<img src=x onerror=alert(1)>');
  expect(await page.locator('img').count()).toBe(0);
});

test('without JavaScript all of it is there, and forms work', async () => {
  const page = await visit({ javaScriptEnabled: false });
  expect(await sentence(page)).toContain('available to sell now');
  await page.getByLabel('Search').fill('Kelp');
  await page.getByLabel('Search').press('Enter');
  expect(await sentence(page)).toContain('for “Kelp”');
  await page.goto(`${demo.origin}/`);
  await page.getByRole('button', { name: 'Read everything now' }).click();
  expect(page.url()).toContain('/jobs');
});

/** From stop to stop until it is there, each of them visible. */
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

/** Whose time stands still until it is told to go on, and which hears what it is told to. */
const STILL = `window.waiting = [];
window.setTimeout = (work, ms) => window.waiting.push({ work, ms });
window.setInterval = () => 0;
window.EventSource = class extends EventTarget {
  static OPEN = 1;
  readyState = 1;
  constructor() { super(); window.hear = () => this.dispatchEvent(new Event('changed')); }
};`;

test('a page that follows fetches at most once a second, and misses nothing that it heard meanwhile', async () => {
  const page = await openPage(browser, demo.origin, visitor);
  await page.addInitScript(STILL);
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

/** Where time is short: what a page does every few seconds it does twenty times as often. */
const HASTE = 'const every = window.setInterval; window.setInterval = (work, ms) => every(work, ms / 20);';

test('a page that is not there does not say that it may be old; one that cannot be fetched, or not whole, does, until it can', async () => {
  const context = await browser.newContext(visitor);
  const page = await context.newPage();
  await page.addInitScript(HASTE);
  await page.goto(`${demo.origin}/deliveries/999999`);
  for (let looks = 0; looks < 2; looks++)
    await page.waitForResponse(answer => answer.request().resourceType() === 'fetch', { timeout: 170_000 });
  const saysOld = async () => await page.locator('#link').isVisible();
  expect(await saysOld()).toBe(false);
  for (const answer of [
    { status: 500 },
    { status: 200, contentType: 'text/html', body: '<p class="fault">' },
  ]) {
    await page.route(page.url(), route => route.fulfill(answer));
    await expect.poll(saysOld).toBe(true);
    await page.unroute(page.url());
    await expect.poll(saysOld).toBe(false);
  }
  await context.setOffline(true);
  await expect.poll(saysOld).toBe(true);
  await context.setOffline(false);
  await expect.poll(saysOld).toBe(false);
  await context.close();
});

/** A few of them, the first page among them. */
const some = (pages: readonly string[]) => pages.slice(0, atLength(3, pages.length));

test.each(
  [
    ['opened', "document.querySelector('#charts details').open = IS"],
    [
      'marked',
      "IS ? getSelection().selectAllChildren(document.querySelector('#charts')) : getSelection().empty()",
    ],
    ['reached', "IS ? document.querySelector('#charts summary').focus() : document.activeElement.blur()"],
  ].slice(0, atLength(1, 3)),
)('what somebody has %s stays as it is until it is left, and the rest goes on', async (_, act) => {
  const page = await openPage(browser, demo.origin, visitor);
  await page.addInitScript(HASTE);
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
});

long.test(
  'by the keyboard alone: the first stop leads past the menu, / searches, ? helps, and each thing is reached and done',
  async () => {
    const page = await visit();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('/');
    await page.keyboard.type('exPost');
    await page.keyboard.press('Enter');
    await expect.poll(() => sentence(page)).toContain('for “exPost”');
    await page.waitForLoadState('domcontentloaded');
    await page.keyboard.press('?');
    await expect.poll(() => sentence(page)).toBe('Help');

    await tabTo(page, 'SQL');
    await page.keyboard.press('Enter');
    await expect.poll(() => sentence(page)).toBe('SQL query');
    await tabTo(page, 'Help');
    await page.keyboard.press('Tab');
    await page.keyboard.type('select 6 * 7 as answer');
    await tabTo(page, 'Run');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('#answer').innerText()).toContain('42');

    await tabTo(page, 'Now');
    await page.keyboard.press('Enter');
    await expect.poll(() => sentence(page)).toContain('available to sell now');
    await tabTo(page, 'Show as a table');
    await page.keyboard.press('Enter');
    expect(await page.getByText('tonnes in the warehouses at the end of the day').isVisible()).toBe(true);
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
/** Of what is behind the page: 0 is black, 255 white. */
const brightness = (page: Page) =>
  page.evaluate<number>(
    `Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))`,
  );

test('in the dark the page is dark', async () => {
  expect(await brightness(await visit())).toBeGreaterThan(BRIGHT);
  expect(await brightness(await visit({ colorScheme: 'dark' }))).toBeLessThan(BRIGHT);
});

test('no page is wider than a window of 380 pixels', async () => {
  const page = await visit({ viewport: { width: 380, height: 800 } });
  for (const path of PAGES) {
    await page.goto(`${demo.origin}${path}`);
    const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(wider, path).toBeLessThanOrEqual(0);
  }
});

const THEMES = ['light', 'dark'] as const;

test.each(THEMES)(
  'enlarged to twice its size, in %s, no page is cut off or wider than its window',
  async colorScheme => {
    const page = await visit({ viewport: { width: 640, height: 400 }, colorScheme });
    for (const path of some([...PAGES, '/help', '/organizations'])) {
      await page.goto(`${demo.origin}${path}`);
      expect(await page.evaluate<string[]>(CUT), path).toEqual([]);
    }
  },
);

/** What ends beyond the window, and is in nothing that scrolls; or ends within itself, and says so with no dots. */
const CUT = `[...document.querySelectorAll('body *')].filter(part => {
  const { left, right } = part.getBoundingClientRect();
  if (!part.checkVisibility() || left < -500) return false;
  const style = getComputedStyle(part);
  const isWide = right > innerWidth + 1 && !part.closest('.wide, .tabs, .filters, object, svg');
  const isCut = part.scrollWidth > part.clientWidth + 1 && style.overflowX === 'hidden' && style.textOverflow !== 'ellipsis';
  return isWide || isCut;
}).map(part => part.outerHTML.slice(0, 100))`;

/** The page of a list's first row as it is printed: all of it, while a click waits for no more than its beginning. */
async function printFirst(path: string): Promise<Page> {
  const page = await visit({}, path);
  await page.locator('tbody a').first().click();
  await page.waitForURL(`**${path}/*`);
  await page.emulateMedia({ media: 'print' });
  return page;
}

test('on paper there is no menu and no form', async () => {
  const page = await printFirst('/retirements');
  expect(await page.locator('header').isVisible()).toBe(false);
  expect(await page.locator('form:visible').count()).toBe(0);
  expect(await page.locator('#facts').isVisible()).toBe(true);
});

test('on paper instants and ids stand whole: what is so long ago is not when it is read', async () => {
  const page = await printFirst('/retirements');
  const printed = await page.evaluate<string>(
    `getComputedStyle(document.querySelector('#facts time'), '::after').content`,
  );
  expect(printed).toMatch(/^"\d{4}-\d{2}-\d{2}T[\d:.]+Z"$/);
  expect(await page.locator('#facts .ago:visible').count()).toBe(0);
  expect(await page.locator('#facts .id').first().innerText()).toMatch(
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  );
});
