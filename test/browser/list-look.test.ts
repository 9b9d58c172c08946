import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { openPage, type SignedInState, saveSignedInState, startBrowser } from './browser.js';
import { type Demo, startDemo } from './demo.js';

const AT = '2026-05-04T12:00:00.000Z';
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 800 };
const MAX_FIRST_ROW_TOP = 220;
/** Two lines of text and the padding of a card. */
const MAX_CARD_HEIGHT = 62;

let demo: Demo;
let browser: Browser;
let signedInState: SignedInState;

beforeAll(async () => {
  [demo, browser] = await Promise.all([startDemo(), startBrowser()]);
  signedInState = await saveSignedInState(browser, await demo.createSignInLink());
  // The demo has rows in every other list.
  await demo.tables.change(
    `INSERT INTO inbox.orders (key, actor, action, organization_id, credit_id, amount_exact, reservation_id, state, sent_at, result, created_at, finished_at)
    VALUES ('k', 'dana@example.com', 'reserve', 'organization-1', 'c-1', '1', 's-1', 'done', '${AT}', '1 t are reserved until ${AT}.', '${AT}', '${AT}')`,
  );
  await demo.tables.change(
    `INSERT INTO inbox.rejected_webhooks VALUES ('2026-05-04T12:00', 'signature_not_valid', 401, '', 3, '${AT}')`,
  );
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

async function openList(path: string, viewport: typeof WIDE): Promise<Page> {
  const page = await openPage(browser, demo.origin, { ...signedInState, viewport });
  await page.goto(`${demo.origin}${path}`);
  return page;
}

const measureFirstRow = async (page: Page) =>
  await page.evaluate<number>(`document.querySelector('tbody tr').getBoundingClientRect().top`);

/** Pages with one table, besides the lists. */
const OTHER_TABLES = ['retirement-totals', 'retirement-totals?by=month&by=beneficiary', 'compare'];

describe('a list', () => {
  test('the first row of each list starts at most 220 pixels from the top at 1280 × 800', async () => {
    const page = await openList('/warehouse', WIDE);
    for (const name of [...ALL_LISTS.map(list => list.name), ...OTHER_TABLES]) {
      await page.goto(`${demo.origin}/${name}`);
      expect.soft(await measureFirstRow(page), name).toBeLessThanOrEqual(MAX_FIRST_ROW_TOP);
    }
  });

  test('no list is wider than its window of 1280 pixels', async () => {
    const page = await openList('/warehouse', WIDE);
    for (const name of [...ALL_LISTS.map(list => list.name), ...OTHER_TABLES]) {
      await page.goto(`${demo.origin}/${name}`);
      const overflow = await page.evaluate<number>(
        `Math.max(...Array.from(document.querySelectorAll('.wide'), box => box.scrollWidth - box.clientWidth))`,
      );
      expect.soft(overflow, name).toBeLessThanOrEqual(0);
    }
  });

  test('a click on a row opens its page, except on a selection, and with Ctrl in a new tab', async () => {
    const page = await openList('/retirements', WIDE);
    const href = await page.locator('tbody a').first().getAttribute('href');
    const cell = page.locator('tbody tr').first().locator('td').nth(2);
    await page.evaluate(
      `getSelection().selectAllChildren(document.querySelector('tbody tr td:nth-child(2)'))`,
    );
    await page.evaluate(`document.querySelector('tbody tr td:nth-child(3)').click()`);
    expect(new URL(page.url()).pathname).toBe('/retirements');
    await page.evaluate('getSelection().empty()');
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      cell.click({ modifiers: ['ControlOrMeta'] }),
    ]);
    await expect.poll(() => new URL(tab.url()).pathname).toBe(href);
    expect(new URL(page.url()).pathname).toBe('/retirements');
    await tab.close();
    await cell.click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(href);
  });

  test('a row without a page shows its ids behind a button, which the keyboard reaches too', async () => {
    const page = await openList('/members', WIDE);
    const ids = page.locator('[popover].card').first();
    expect(await ids.isVisible()).toBe(false);
    await page.locator('tbody tr').first().locator('td').nth(1).click();
    expect(await ids.isVisible()).toBe(true);
    expect(await ids.locator('.id').first().innerText()).toMatch(/^[0-9a-f-]{36}$/);
    await page.keyboard.press('Escape');
    expect(await ids.isVisible()).toBe(false);
    await page.locator('.ids').first().focus();
    await page.keyboard.press('Enter');
    expect(await ids.isVisible()).toBe(true);
  });

  test('a copy button copies the whole id', async () => {
    const page = await openList('/retirements', WIDE);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('tbody a').first().click();
    await page.waitForURL('**/retirements/*');
    const button = page.locator('.copy').first();
    await button.click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await button.getAttribute('value'));
  });

  test('a heading sorts the rows, and says so to screen readers', async () => {
    const page = await openList('/warehouse', WIDE);
    const readDirection = async () => await page.locator('th:has(.sort)').getAttribute('aria-sort');
    const readFirst = async () => await page.locator('tbody .amount').first().innerText();
    expect(await readDirection()).toBe('descending');
    const largest = await readFirst();
    await page.getByRole('link', { name: 'Tonnes' }).click();
    await page.waitForURL('**/warehouse?sort=smallest');
    expect(await readDirection()).toBe('ascending');
    expect(Number.parseFloat((await readFirst()).replaceAll(',', ''))).toBeLessThan(
      Number.parseFloat(largest.replaceAll(',', '')),
    );
    await page.getByRole('link', { name: 'Tonnes' }).click();
    await page.waitForURL('**/warehouse?sort=largest');
    expect(await readFirst()).toBe(largest);
  });
});

describe('a list at 390 pixels', () => {
  test('its filters open with one button', async () => {
    const page = await openList('/retirements', NARROW);
    const field = page.locator('.field [name=vintage]');
    expect(await field.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Filters' }).click();
    await field.fill('2021');
    await field.press('Enter');
    await page.waitForURL('**/retirements?*vintage=2021*');
    expect(await page.getByRole('button', { name: 'Filters (1)' }).isVisible()).toBe(true);
    expect(await field.isVisible()).toBe(false);
  });

  test('a card of each list and of Reconciliation has two lines, and shows the tonnes and each state beside the name', async () => {
    const page = await openList('/warehouse', NARROW);
    for (const name of [...ALL_LISTS.map(list => list.name), 'balance']) {
      await page.goto(`${demo.origin}/${name}`);
      const cards = await page.evaluate<{ height: number; hidden: string[] }[]>(
        `[...document.querySelectorAll('tbody tr')].map(row => {
          const { bottom } = row.getBoundingClientRect();
          const shown = [...row.querySelectorAll('.amount:not(:has(.none)), .state, .ids')];
          const isCut = part => part.getBoundingClientRect().bottom > bottom + 1 || part.offsetHeight === 0;
          return { height: row.offsetHeight, hidden: shown.filter(isCut).map(part => part.innerText) };
        })`,
      );
      for (const { height, hidden } of cards) {
        expect.soft(height, name).toBeLessThanOrEqual(MAX_CARD_HEIGHT);
        expect.soft(hidden, name).toEqual([]);
      }
    }
  });
});
