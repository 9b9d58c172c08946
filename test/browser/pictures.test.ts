import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createPages } from '../../src/console/pages/all-pages.js';
import { openPage, startBrowser } from './browser.js';
import { type Demo, startDemo } from './demo.js';
import { openConsoleInTrouble, TROUBLES } from './trouble.js';

const FOLDER = fileURLToPath(new URL('../../docs/console/', import.meta.url));
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 800 };
/** A page, or the first that a list leads to. */
const PICTURES = [
  ['now', '/', { colorScheme: 'light', viewport: WIDE }],
  ['now-dark', '/', { colorScheme: 'dark', viewport: WIDE }],
  ['now-narrow', '/', { colorScheme: 'light', viewport: NARROW }],
  ['changes', '/changes?since=7d', { colorScheme: 'light', viewport: WIDE }],
  ['compare', '/compare', { colorScheme: 'light', viewport: WIDE }],
  ['retirement', '/retirements/:id', { colorScheme: 'light', viewport: WIDE }],
  ['delivery', '/deliveries/:id', { colorScheme: 'light', viewport: WIDE }],
] as const;
/** Each kind of page. */
const ALL = [...createPages().map(({ path }) => path), '/ask', '/demo'].filter(
  path => !/\.(csv|json)$/.test(path) && !path.startsWith('/orders/'),
);
const LOOKS = (['light', 'dark'] as const).flatMap(colorScheme =>
  [WIDE, NARROW].map(viewport => ({ colorScheme, viewport })),
);

/** Pages that people open when something is wrong. */
const IN_TROUBLE = ['/', '/organizations', '/organizations/organization-1', '/warehouse', '/jobs'];

/** `npm run pictures` sets this folder, updates docs/console/ and saves every page in the folder. Other runs save no pictures. */
describe.runIf(process.env['PICTURES'] === '1')('pictures', () => {
  test('of the demo are small enough for the repository', async () => {
    mkdirSync(FOLDER, { recursive: true });
    await withDemo(async (browser, demo) => {
      for (const [name, path, options] of PICTURES) {
        const page = await openPage(browser, demo.origin, options);
        await page.goto(await demo.createSignInLink());
        await openDemoPage(page, demo, path);
        const picture = await page.screenshot({ path: `${FOLDER}${name}.png` });
        expect(picture.length, name).toBeLessThan(300_000);
      }
    });
  });

  test('of the pages that show trouble are taken for each kind of trouble', async () => {
    const folder = join(tmpdir(), 'carbon-mirror-pictures');
    mkdirSync(folder, { recursive: true });
    const browser = await startBrowser();
    onTestFinished(() => browser.close());
    for (const kind of TROUBLES) {
      const { port, keys, writeHeartbeats: beat } = await openConsoleInTrouble(kind);
      const origin = `http://127.0.0.1:${port}`;
      for (const viewport of LOOKS) {
        const page = await openPage(browser, origin, viewport);
        await page.goto(`${origin}/?key=${keys.createSignInKey()}`);
        for (const path of IN_TROUBLE) {
          await beat();
          await page.goto(origin + path);
          const name = path.replaceAll(/[^a-z]+/g, ' ').trim() || 'now';
          const file = `${kind}, ${name} ${viewport.viewport.width} ${viewport.colorScheme}.png`;
          await page.screenshot({ path: join(folder, file), fullPage: true });
        }
      }
    }
    process.stdout.write(`Pages in trouble are drawn in ${folder}\n`);
  });

  test('of every page are taken wide and narrow, in light and in dark', async () => {
    const folder = join(tmpdir(), 'carbon-mirror-pictures');
    mkdirSync(folder, { recursive: true });
    await withDemo(async (browser, demo) => {
      for (const viewport of LOOKS) {
        const page = await openPage(browser, demo.origin, viewport);
        await page.goto(await demo.createSignInLink());
        for (const path of ALL) {
          await openDemoPage(page, demo, path);
          const name = path.replaceAll(/[^a-z]+/g, ' ').trim() || 'now';
          const file = `${name} ${viewport.viewport.width} ${viewport.colorScheme}.png`;
          await page.screenshot({ path: join(folder, file), fullPage: true });
        }
      }
    });
    process.stdout.write(`Every page is drawn in ${folder}\n`);
  });
});

async function withDemo(work: (browser: Browser, demo: Demo) => Promise<void>): Promise<void> {
  const demo = await startDemo();
  const browser = await startBrowser();
  try {
    await work(browser, demo);
  } finally {
    await browser.close();
    await demo.stop();
  }
}

async function openDemoPage(page: Page, { origin }: Demo, path: string): Promise<void> {
  const [list = ''] = path.split('/:');
  await page.goto(`${origin}${list}`);
  if (list === path) return;
  await page.locator('tbody a').first().click();
  await page.waitForURL(`**${list}/*`);
}
