import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LIBRARY = /error while loading shared libraries: (\S+):/;

/** A real browser, as people have it: its own guards are all on. */
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

/** A page whose every fault fails the test: an error, what the policy blocked, a request to somebody else. */
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

/** What a browser keeps of a visit, for pages that begin let in. */
export async function rememberVisit(browser: Browser, address: string): Promise<Remembered> {
  const context = await browser.newContext();
  await (await context.newPage()).goto(address);
  const storageState = await context.storageState();
  await context.close();
  return { storageState };
}

export type Remembered = Required<Pick<BrowserContextOptions, 'storageState'>>;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What people with a screen reader, a keyboard or weak eyes would stumble over, however little. */
export async function findStumbles(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<{ violations: Violation[] }>(`axe.run({ resultTypes: ['violations'] })`);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
