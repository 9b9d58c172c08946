import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ConsoleStage, consoleStage } from '../support/console.js';
import { retirement } from '../support/mirror/rows.js';
import { storeCertificate } from '../support/certificates.js';
import { startBrowser } from './browser.js';

const NAME = 'tunnel.example';
/** To a browser of the same site as the name above, and nobody of ours. */
const BESIDE = 'beside.tunnel.example';
/** Somebody else's. */
const BENT = 'bent.example';

let browser: Browser;
beforeAll(async () => {
  const bent = [NAME, BESIDE, BENT].map(name => `MAP ${name} 127.0.0.1`).join(', ');
  browser = await startBrowser([`--host-resolver-rules=${bent}`]);
});
afterAll(() => browser?.close());

interface Visitor extends Omit<ConsoleStage, 'page'> {
  readonly origin: string;
  readonly page: Page;
  readonly address: () => string;
}

/** Somebody whom a console of this process let in, by one of its names. */
async function letIn(name = '127.0.0.1'): Promise<Visitor> {
  const stage = await consoleStage({ canAct: true, now: Date.now, hostNames: [NAME] });
  const origin = `http://${name}:${stage.port}`;
  const address = () => `${origin}/?key=${stage.keys.createSignInKey()}`;
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  expect((await page.goto(address()))?.status()).toBe(200);
  return { ...stage, origin, page, address };
}

/** A page of somebody else, at a port of its own. */
async function stranger(markup: string): Promise<number> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(markup);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Of another site; and of the same one, to which a browser sends every cookie of ours. */
const OTHERS = ['localhost', '127.0.0.1'];

test('T80 a name that somebody else pointed at this machine shows nothing, by the printed address either', async () => {
  const { page, origin, port, address } = await letIn();
  await page.context().clearCookies();
  const bent = `http://${BENT}:${port}`;
  for (const shown of [`${bent}/`, address().replace(origin, bent)]) {
    expect((await page.goto(shown))?.status()).toBe(421);
    expect(await page.context().cookies()).toEqual([]);
  }
});

test('T81 no script sees the cookie, and none of it goes along to a page that is not ours', async () => {
  const { page, port } = await letIn();
  expect(await page.evaluate('document.cookie')).toBe('');
  const cookies = await page.context().cookies();
  expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: `carbon-mirror-${port}`, httpOnly: true, sameSite: 'Lax' },
  ]);
  expect(page.url()).not.toContain('key');
  expect(await page.evaluate('document.referrer')).not.toContain('key');
});

test.each(OTHERS)('T81 a link of another page, as in a mail, finds its visitor let in: %s', async host => {
  const { page, origin } = await letIn();
  const port = await stranger(`<a href="${origin}/retirements">Look</a>`);
  await page.goto(`http://${host}:${port}`);
  await page.getByRole('link', { name: 'Look' }).click();
  await expect.poll(() => page.locator('h1').innerText()).toBe('Retirements');
});

const ACT = '/read-now';
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];

test.each(OTHERS)('T82 a hostile page posts nothing by its visitor’s browser: %s', async host => {
  const { page, origin, asked } = await letIn();
  const port = await stranger('<h1>Win</h1>');
  await page.goto(`http://${host}:${port}`);
  for (const mode of ['cors', 'no-cors']) {
    const sent = `fetch('${origin}${ACT}', { method: 'POST', mode: '${mode}', credentials: 'include' }).then(() => 'read', () => 'refused')`;
    expect(await page.evaluate(sent), mode).toBe('refused');
  }
  for (const enctype of FORMS) {
    await page.goto(`http://${host}:${port}`);
    await page.evaluate(`const form = document.createElement('form');
      Object.assign(form, { method: 'post', enctype: '${enctype}', action: '${origin}${ACT}' });
      document.body.append(form);
      form.submit();`);
    await expect
      .poll(() => page.locator('body').innerText(), { message: enctype })
      .toContain('did not come from a page of this');
  }
  expect(asked).toEqual([]);
});

test('T82 by a name for which a browser says no Sec-Fetch-Site, its Origin tells a form of ours from one of a neighbour', async () => {
  const { page, origin, asked } = await letIn(NAME);
  const port = await stranger(`<form method="post" action="${origin}${ACT}"><button>Win</button></form>`);
  await page.goto(`http://${BESIDE}:${port}`);
  const [answer] = await Promise.all([
    page.waitForResponse(response => response.url().endsWith(ACT)),
    page.getByRole('button', { name: 'Win' }).click(),
  ]);
  const headers = await answer.request().allHeaders();
  expect([headers['sec-fetch-site'], headers['cookie']?.startsWith('carbon-mirror-')]).toEqual([
    undefined,
    true,
  ]);
  expect(answer.status()).toBe(403);
  expect(asked).toEqual([]);

  await page.goto(`${origin}/organizations/organization-1`);
  await page.getByRole('button', { name: 'Read now' }).click();
  await expect.poll(() => page.url()).toMatch(/\/jobs/);
  expect(asked).toHaveLength(1);
});

/** What a page may put into itself. */
const LOADS = [
  { tag: 'script', by: 'src', path: '/console.js' },
  { tag: 'link', by: 'href', path: '/console.css' },
  { tag: 'img', by: 'src', path: '/' },
];
const FRAMES = { iframe: 'src', object: 'data', embed: 'src' };

/** The last is of the same site by its name, where the others are by their number. */
const READERS = [...OTHERS.map(host => [host, '127.0.0.1'] as const), [BESIDE, NAME] as const];

test.each(READERS)(
  'T83 a hostile page reads, shows and hears nothing, although its visitor is let in: %s',
  async (host, name) => {
    const { page, origin, scene } = await letIn(name);
    await scene.read('retirements', [retirement('r-1')]);
    const file = await storeCertificate(scene, 'r-1');
    const certificate = `/certificates/${file}`;
    const port = await stranger('<h1>Look</h1>');
    await page.goto(`http://${host}:${port}`);
    const outcome = (script: string) => page.evaluate<string>(script);
    for (const path of ['/', '/retirements.json', certificate]) {
      for (const mode of ['cors', 'no-cors']) {
        const read = `fetch('${origin}${path}', { mode: '${mode}', credentials: 'include' }).then(() => 'read', () => 'refused')`;
        expect(await outcome(read), `${mode} ${path}`).toBe('refused');
      }
    }
    for (const { tag, by, path } of [...LOADS, { tag: 'img', by: 'src', path: certificate }]) {
      const load = `new Promise(end => {
      const part = document.createElement('${tag}');
      Object.assign(part, { ${by}: '${origin}${path}', rel: 'stylesheet' });
      part.onload = () => end('loaded');
      part.onerror = () => end('refused');
      document.body.append(part);
    })`;
      expect(await outcome(load), `${tag} ${path}`).toBe('refused');
    }
    const hear = `new Promise(end => {
    const events = new EventSource('${origin}/live', { withCredentials: true });
    events.onopen = () => end('told');
    events.onerror = () => { events.close(); end('refused'); };
  })`;
    expect(await outcome(hear)).toBe('refused');
    const framed: string[] = [];
    page.on('framenavigated', frame => framed.push(frame.url()));
    for (const [tag, by] of Object.entries(FRAMES)) {
      const show = `new Promise(end => {
      const part = Object.assign(document.createElement('${tag}'), { ${by}: '${origin}/help' });
      part.onload = () => end('loaded');
      part.onerror = () => end('refused');
      document.body.append(part);
    })`;
      const [answer] = await Promise.all([page.waitForResponse(`${origin}/help`), outcome(show)]);
      expect(answer.status(), tag).toBe(host === 'localhost' ? 401 : 200);
      expect(
        framed.filter(url => url.startsWith(origin)),
        tag,
      ).toEqual([]);
    }
  },
);

test.each(OTHERS)('T83 a window that a hostile page opens has lost its opener: %s', async host => {
  const { page, origin } = await letIn();
  const port = await stranger('<h1>Look</h1>');
  await page.goto(`http://${host}:${port}`);
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    page.evaluate(`window.opened = window.open('${origin}/'); undefined`),
  ]);
  await expect.poll(() => opened.locator('h1').count()).toBe(1);
  expect(await opened.evaluate('window.opener')).toBeNull();
  await expect.poll(() => page.evaluate('window.opened.closed')).toBe(true);
});
