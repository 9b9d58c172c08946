import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PAGES } from '../../src/webhook/visitor-pages.js';
import { openConsoleStage } from '../support/console.js';
import { openReceiver } from '../support/receiver.js';
import { findAccessibilityViolations, startBrowser } from './browser.js';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Opens a page that may answer with an error status. */
async function open(address: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const answer = await page.goto(address);
  return { page, status: answer?.status() };
}

describe.each(['light', 'dark'] as const)('in %s', colorScheme => {
  test('a visitor without sign-in sees a page that says how to sign in', async () => {
    const { port } = await openConsoleStage();
    const { page, status } = await open(`http://127.0.0.1:${port}/retirements`, { colorScheme });
    expect(status).toBe(401);
    expect(await page.title()).toBe('Sign in – carbon-mirror');
    expect(await page.locator('code').innerText()).toBe('carbon-mirror console url');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).borderRadius`)).toBe('8px');
    expect(await findAccessibilityViolations(page)).toEqual([]);
  });

  test('a page that does not exist offers a search and pages to go on with', async () => {
    const { port, keys } = await openConsoleStage();
    const origin = `http://127.0.0.1:${port}`;
    const { page } = await open(`${origin}/help?key=${keys.createSignInKey()}`, { colorScheme });
    expect((await page.goto(`${origin}/nope`))?.status()).toBe(404);
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await page.getByLabel('Search for an id or a name').fill('Peat');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=Peat');
  });

  test.each(PAGES.map(({ path }) => path))(
    'the page %s of the receiver is styled and accessible',
    async path => {
      const receiver = await openReceiver();
      const { page } = await open(`${receiver.url}${path}`, { colorScheme });
      expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).borderRadius`)).toBe(
        '8px',
      );
      expect(await findAccessibilityViolations(page)).toEqual([]);
    },
  );
});
