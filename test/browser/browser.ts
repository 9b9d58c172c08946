import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LIBRARY = /error while loading shared libraries: (\S+):/;

/** Starts a real browser with its usual security settings. */
export async function startBrowser(args: readonly string[] = []): Promise<Browser> {
  try {
    return await chromium.launch({ executablePath: inject('browser'), args: ['--no-sandbox', ...args] });
  } catch (error) {
    const library = LIBRARY.exec(String(error))?.[1];
    if (library === undefined) throw error;
    throw new Error(`The browser needs ${library} of this machine (libnss3, libnspr4 and libexpat1).`, {
      cause: error,
    });
  }
}

/** Opens a page that fails the test on a console error, a blocked resource or a request to another origin. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', error => faults.push(error.message));
  page.on('request', request => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('about:')) faults.push(`asked ${url}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
  return page;
}

/** Signs in and returns the browser's storage, so that later pages are signed in from the start. */
export async function saveSignedInState(browser: Browser, address: string): Promise<SignedInState> {
  const context = await browser.newContext();
  await (await context.newPage()).goto(address);
  const storageState = await context.storageState();
  await context.close();
  return { storageState };
}

export type SignedInState = Required<Pick<BrowserContextOptions, 'storageState'>>;

interface AccessibilityViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Returns the accessibility violations that axe finds on a page, of any severity. */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<{ violations: AccessibilityViolation[] }>(
    `axe.run({ resultTypes: ['violations'] })`,
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
