import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { type StartedServer, startServer } from '../postgres/server.js';
import { long } from '../support/long.js';
import { registerApp, startTestSandbox } from '../support/sandbox.js';
import { openPage, startBrowser } from './browser.js';
import { type StartedProgram, startUp } from './demo.js';

const WORLD = { organizations: 2, projects: 2, credits: 10, retirements: 10 };
const SECRET = 'a webhook secret of a running sandbox';
const PERMISSIONS = { organization_info: 'VIEW', organization_warehouse: 'WRITE' };

let postgres: StartedServer;
let up: StartedProgram;
let browser: Browser;
const stops: (() => Promise<void>)[] = [];

/** Prepares what a person has who started a sandbox, registered an app there, and added its settings to MIRROR_DATABASE_URL. */
beforeAll(async () => {
  [postgres, browser] = await Promise.all([startServer(['fsync=off']), startBrowser()]);
  stops.push(postgres.stop, () => browser.close());
  const { server } = postgres;
  if ('missing' in server) throw new Error(server.missing);
  const { sandbox, stop } = await startTestSandbox({ seed: 1, world: WORLD });
  stops.push(stop);
  const app = registerApp(sandbox, { permissions: PERMISSIONS, webhookSecret: SECRET });
  for (const { id } of sandbox.registry.organizations.listAll())
    sandbox.registry.installations.install(app.id, id);
  up = await startUp(
    {
      MIRROR_DATABASE_URL: `postgres://postgres@localhost/postgres?host=${server.host}&port=${server.port}`,
      REGISTRY_BASE_URL: sandbox.url,
      REGISTRY_APP_ID: app.id,
      REGISTRY_PRIVATE_KEY: app.privateKey,
      REGISTRY_REQUESTS_PER_SECOND: '1000',
      WEBHOOK_SECRETS: SECRET,
    },
    'Open http://',
  );
  stops.push(up.stop);
  sandbox.registry.apps.change(app.id, { webhookUrl: `http://127.0.0.1:${up.receiverPort}/webhooks` });
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

long.test(
  'on PostgreSQL the console shows a running sandbox, and its Demo changes the registry and the mirror',
  async () => {
    const page = await openPage(browser, up.origin);
    const shows = async (part: string, text: RegExp | string) =>
      await expect.poll(() => page.locator(part).innerText()).toMatch(text);
    const press = async (name: string, done: string) => {
      await page.goto(`${up.origin}/demo`);
      await page.getByRole('button', { name, exact: true }).click();
      await shows('#done', done);
    };
    await page.goto(await up.createSignInLink());
    await shows('h1', /^[1-9][\d,.]* t ex-post[^]*available to sell now in 2 of the 2 known organizations/);

    await press('Retire 1 t and watch', '1 t was retired for A visitor of the demo.');
    await shows('#moved', 'A visitor of the demo');
    await press('Reserve 1 t', 'Reserved 1 t (reservation');
    await page.goto(`${up.origin}/`);
    await shows('#moved', /Reserved 1 t/);
    await press('Retire the reserved 1 t', 'Retired the reserved 1 t (reservation');
    await press('Let a new customer install the app', 'has installed the app');
    await page.goto(`${up.origin}/`);
    await shows('h1', 'in 3 of the 3 known organizations');

    const retired = async () =>
      JSON.parse(await (await page.request.get(`${up.origin}/retirements.json`)).text()).rows.length;
    await expect.poll(retired).toBe(WORLD.retirements + 2);
    await press('Retire 1 t and lose its webhook', 'its webhook was dropped');
    await page.goto(`${up.origin}/`);
    await page.getByRole('button', { name: 'Read everything now' }).click();
    await expect.poll(retired).toBe(WORLD.retirements + 3);
  },
);
