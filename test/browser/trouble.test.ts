import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPages } from '../../src/console/pages/all-pages.js';
import { openPage, startBrowser } from './browser.js';
import { openConsoleInTrouble, TROUBLES } from './trouble.js';

const WIDTHS = [1280, 390];
/** Ids of the rows that the detail pages show. */
const ID: Readonly<Record<string, string>> = {
  '/organizations/:id': 'organization-1',
  '/projects/:id': 'project-1',
  '/warehouse/:id': 'c-1-exPost',
  '/retirements/:id': 'r-1',
  '/deliveries/:id': '7',
  '/jobs/:id': '5',
};
const PATHS = [
  ...createPages()
    .map(({ path }) => path.replace(':id', ID[path] ?? ':id'))
    .filter(path => !path.includes(':') && !/\.(csv|json)$/.test(path)),
  '/organizations/organization-2',
  '/?all=yes',
  '/?as-of=now',
];

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

describe.each(TROUBLES)('a mirror in trouble: %s', kind => {
  test('no page cuts a number, at 1280 and at 390 pixels', async () => {
    const { port, keys, writeHeartbeats: beat } = await openConsoleInTrouble(kind);
    const origin = `http://127.0.0.1:${port}`;
    for (const width of WIDTHS) {
      const page = await openPage(browser, origin, { viewport: { width, height: 800 } });
      await page.goto(`${origin}/help?key=${keys.createSignInKey()}`);
      for (const path of PATHS) {
        await beat();
        await page.goto(origin + path);
        expect.soft(await page.evaluate<string[]>(FIND_CUT_NUMBERS), `${path} at ${width} px`).toEqual([]);
      }
    }
  });
});

describe('a list of a mirror in trouble, at 390 pixels', () => {
  test.each([
    ['suspended', '/organizations', '.not-fresh', 'no access (suspended)'],
    ['suspended', '/warehouse', '.not-fresh', 'no access (suspended)'],
    [
      'read failed',
      '/jobs',
      '.important:not(:first-child)',
      'GET /organizations/organization-1/warehouse answered 503',
    ],
  ] as const)('%s: the cards of %s show what is wrong', async (kind, path, selector, text) => {
    const { port, keys } = await openConsoleInTrouble(kind);
    const origin = `http://127.0.0.1:${port}`;
    const page = await openPage(browser, origin, { viewport: { width: 390, height: 800 } });
    await page.goto(`${origin}/help?key=${keys.createSignInKey()}`);
    await page.goto(origin + path);
    const fault = page.locator(`tbody ${selector}`).first();
    expect(await fault.innerText()).toContain(text);
    const bottomOf = async (element: Locator) => {
      const box = await element.boundingBox();
      return box === null ? Infinity : box.y + box.height;
    };
    const row = page.locator(`tbody tr:has(${selector})`).first();
    expect(await bottomOf(fault)).toBeLessThanOrEqual(await bottomOf(row));
  });
});

/** Script that finds numbers, and text next to them, that reach beyond their cell, a box that hides or scrolls its content, or the window. */
const FIND_CUT_NUMBERS = `(() => {
  const cut = [];
  for (const part of document.querySelectorAll('td, th, .tile, .notice, .more, .lead, caption, .facts dd')) {
    if (!part.checkVisibility()) continue;
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const hasDots = [text.parentElement, part].some(each => getComputedStyle(each).textOverflow === 'ellipsis');
      const isNumber = part.matches('.number') || /\\d/.test(text.data);
      if (!text.parentElement.checkVisibility() || hasDots || !(isNumber || part.tagName === 'TD')) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      const { left, right, width } = range.getBoundingClientRect();
      if (width === 0 || right < 0) continue;
      const isCut = (box, ends) => left < box.left - 1 || right > box.left + ends + 1;
      let isOutside = isCut({ left: 0 }, innerWidth);
      for (let around = text.parentElement; around !== document.body; around = around.parentElement) {
        const box = around.getBoundingClientRect();
        const isHolder = around === part || getComputedStyle(around).overflowX !== 'visible';
        if (isHolder && getComputedStyle(around).display !== 'inline' && isCut(box, box.width)) isOutside = true;
      }
      if (isOutside) cut.push(part.tagName + ' ' + (part.closest('table')?.caption?.textContent ?? '').slice(0, 30) + ': ' + text.data.trim().slice(0, 60));
    }
  }
  return cut;
})()`;
