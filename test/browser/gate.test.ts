import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ConsoleStage, openConsoleStage } from '../support/console.js';
import { retirement } from '../support/mirror/rows.js';
import { storeCertificate } from '../support/certificates.js';
import { listenOnFreePort } from '../support/listen.js';
import { startBrowser } from './browser.js';

const NAME = 'tunnel.example';
/** Browsers treat this host as the same site as NAME, but it is not a name of the console. */
const NEIGHBOUR_NAME = 'beside.tunnel.example';
/** The name of an attacker, which resolves to this machine. */
const FOREIGN_NAME = 'bent.example';

let browser: Browser;
beforeAll(async () => {
  const bent = [NAME, NEIGHBOUR_NAME, FOREIGN_NAME].map(name => `MAP ${name} 127.0.0.1`).join(', ');
  browser = await startBrowser([`--host-resolver-rules=${bent}`]);
});
afterAll(() => browser?.close());

interface SignedInVisitor extends Omit<ConsoleStage, 'page'> {
  readonly origin: string;
  readonly page: Page;
  readonly createSignInLink: () => string;
}

/** Opens a console and signs a visitor in, under one of its host names. */
async function signIn(name = '127.0.0.1'): Promise<SignedInVisitor> {
  const stage = await openConsoleStage({ canAct: true, now: Date.now, hostNames: [NAME] });
  const origin = `http://${name}:${stage.port}`;
  const address = () => `${origin}/?key=${stage.keys.createSignInKey()}`;
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  expect((await page.goto(address()))?.status()).toBe(200);
  return { ...stage, origin, page, createSignInLink: address };
}

/** Serves a page that is not ours; returns its port. */
async function serveForeignPage(markup: string): Promise<number> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(markup);
  });
  return await listenOnFreePort(server);
}

/** Hosts of foreign pages: another site, and the same site on another port, to which a browser sends our cookies. */
const FOREIGN_HOSTS = ['localhost', '127.0.0.1'];

test('T80 a foreign name that points at this machine shows no page and accepts no sign-in link', async () => {
  const { page, origin, port, createSignInLink: address } = await signIn();
  await page.context().clearCookies();
  const bent = `http://${FOREIGN_NAME}:${port}`;
  for (const url of [`${bent}/`, address().replace(origin, bent)]) {
    expect((await page.goto(url))?.status()).toBe(421);
    expect(await page.context().cookies()).toEqual([]);
  }
});

test('T81 scripts cannot read the cookie, it is SameSite, and no URL or referrer contains the key', async () => {
  const { page, port } = await signIn();
  expect(await page.evaluate('document.cookie')).toBe('');
  const cookies = await page.context().cookies();
  expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: `carbon-mirror-${port}`, httpOnly: true, sameSite: 'Lax' },
  ]);
  expect(page.url()).not.toContain('key');
  expect(await page.evaluate('document.referrer')).not.toContain('key');
});

test.each(FOREIGN_HOSTS)(
  'T81 a visitor stays signed in when following a link from another site: %s',
  async host => {
    const { page, origin } = await signIn();
    const port = await serveForeignPage(`<a href="${origin}/retirements">Look</a>`);
    await page.goto(`http://${host}:${port}`);
    await page.getByRole('link', { name: 'Look' }).click();
    await expect.poll(() => page.locator('h1').innerText()).toBe('Retirements');
  },
);

const ACT = '/read-now';
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];

test.each(FOREIGN_HOSTS)(
  'T82 a hostile page cannot send forms with the cookie of a visitor: %s',
  async host => {
    const { page, origin, loggedActions } = await signIn();
    const port = await serveForeignPage('<h1>Win</h1>');
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
    expect(loggedActions).toEqual([]);
  },
);

test('T82 where a browser sends no Sec-Fetch-Site, the Origin distinguishes our forms from those of a neighbour', async () => {
  const { page, origin, loggedActions } = await signIn(NAME);
  const port = await serveForeignPage(
    `<form method="post" action="${origin}${ACT}"><button>Win</button></form>`,
  );
  await page.goto(`http://${NEIGHBOUR_NAME}:${port}`);
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
  expect(loggedActions).toEqual([]);

  await page.goto(`${origin}/organizations/organization-1`);
  await page.getByRole('button', { name: 'Read now' }).click();
  await expect.poll(() => page.url()).toMatch(/\/jobs/);
  expect(loggedActions).toHaveLength(1);
});

/** Elements by which a page can load resources of another origin. */
const EMBEDDABLE = [
  { tag: 'script', by: 'src', path: '/console.js' },
  { tag: 'link', by: 'href', path: '/console.css' },
  { tag: 'img', by: 'src', path: '/' },
];
const FRAMES = { iframe: 'src', object: 'data', embed: 'src' };

/** Hosts of hostile pages, and the name of the console that each attacks. */
const FOREIGN_READERS = [
  ...FOREIGN_HOSTS.map(host => [host, '127.0.0.1'] as const),
  [NEIGHBOUR_NAME, NAME] as const,
];

test.each(FOREIGN_READERS)(
  'T83 a hostile page cannot read, embed or subscribe to anything, although its visitor is signed in: %s',
  async (host, name) => {
    const { page, origin, scene } = await signIn(name);
    await scene.read('retirements', [retirement('r-1')]);
    const file = await storeCertificate(scene, 'r-1');
    const certificate = `/certificates/${file}`;
    const port = await serveForeignPage('<h1>Look</h1>');
    await page.goto(`http://${host}:${port}`);
    const outcome = (script: string) => page.evaluate<string>(script);
    for (const path of ['/', '/retirements.json', certificate]) {
      for (const mode of ['cors', 'no-cors']) {
        const read = `fetch('${origin}${path}', { mode: '${mode}', credentials: 'include' }).then(() => 'read', () => 'refused')`;
        expect(await outcome(read), `${mode} ${path}`).toBe('refused');
      }
    }
    for (const { tag, by, path } of [...EMBEDDABLE, { tag: 'img', by: 'src', path: certificate }]) {
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

test.each(FOREIGN_HOSTS)('T83 a window that a hostile page opens has no opener: %s', async host => {
  const { page, origin } = await signIn();
  const port = await serveForeignPage('<h1>Look</h1>');
  await page.goto(`http://${host}:${port}`);
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    page.evaluate(`window.opened = window.open('${origin}/'); undefined`),
  ]);
  await expect.poll(() => opened.locator('h1').count()).toBe(1);
  expect(await opened.evaluate('window.opener')).toBeNull();
  await expect.poll(() => page.evaluate('window.opened.closed')).toBe(true);
});
