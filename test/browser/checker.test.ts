import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '../support/inbox.js';
import { chooseLength } from '../support/long.js';
import { BOTH_ENGINES } from '../support/mirror/open.js';
import { listPaths } from '../support/evidence-folder.js';
import { alterFile, openExportableLog } from '../support/exported-evidence.js';
import { writeSyntheticEvidence } from '../support/synthetic-evidence.js';
import { findAccessibilityViolations, startBrowser } from './browser.js';

vi.setConfig({ testTimeout: 600_000 });

const ROWS = chooseLength(300, 900);
const CERTIFICATES = chooseLength(40, 900);
const PAGE = join(import.meta.dirname, '../../dist/check.html');
const PICTURES = process.env['PICTURES'];

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Opens check.html from disk. The test fails on any request beyond the page itself and on any error. */
async function openChecker(colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', error => faults.push(error.message));
  context.on('request', request => {
    if (!/^(?:file|blob):/.test(request.url())) faults.push(`requested ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
  await page.goto(pathToFileURL(PAGE).href);
  return page;
}

async function exportFolder(what: string) {
  const [engine] = BOTH_ENGINES;
  if (engine === undefined) throw new Error('expected an engine');
  const { write, hex, older } = await openExportableLog(engine);
  const { folder } = await write(what, '--since', older);
  return { folder, hex, olderCheckpoint: readFileSync(older, 'utf8') };
}

async function fillForm(page: Page, hex: string, olderCheckpoint = ''): Promise<void> {
  await page.fill('#key', hex);
  await page.fill('#older', olderCheckpoint);
  await page.click('#check');
  await page.waitForSelector('.verdict');
}

/** Reads an output of the page. `waitForFunction` would need `eval` in the page, which its policy forbids. */
async function readOutput(page: Page, selector: string): Promise<string> {
  return await page.evaluate<string>(`document.querySelector('${selector}').value`);
}

/** Drops a folder onto the page, as a file manager does. */
async function dropFolder(page: Page, folder: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [folder], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: 200, y: 400, data });
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await page.screenshot({ path: join(tmpdir(), `checker-${name}.png`), fullPage: true });
}

describe('check.html, opened from disk', () => {
  test('T93 a chosen folder is verified, and its rows can be filtered, sorted and added up', async () => {
    const { folder, hex, olderCheckpoint } = await exportFolder('organization-1');
    const page = await openChecker();
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await page.setInputFiles('#folder', folder);
    await fillForm(page, hex, olderCheckpoint);
    expect(await page.textContent('.verdict')).toContain('Verified');
    await takePicture(page, 'verified');
    expect(await findAccessibilityViolations(page)).toEqual([]);
    const table = page.locator('details').first();
    expect(await table.textContent()).toContain('4 rows of 4, 37.5 t, 1 without a usable amount');
    await table.locator('input[type=search]').fill('zürich');
    expect(await table.textContent()).toContain('1 row of 4, 12.5 t');
    await table.locator('input[type=search]').fill('');
    await table.locator('select').selectOption('beneficiary');
    expect(await table.locator('table').first().textContent()).toMatch(/Another112\.5 t/);
    await table.getByRole('button', { name: 'Tonnes' }).click();
    const tonnes = await table.locator('table').nth(1).locator('tbody tr td:nth-child(2)').allTextContents();
    expect(tonnes).toEqual(['0.0000001', '12.5', '12.5', '12.5']);
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Tonnes');
    await table.locator('select').selectOption('sealed');
    expect(await table.locator('table').first().textContent()).toMatch(
      /by the older checkpoint3.*later, replacing a version1/,
    );
    await table.locator('input[type=search]').fill('replacing');
    expect(await table.textContent()).toContain('1 row of 4');
    await table.locator('input[type=search]').fill('');
    await table.getByLabel('All columns').check();
    expect(await table.textContent()).toMatch(/JSON of the registry.*\{"/);
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await takePicture(page, 'added-up');
    const certificates = page.locator('details', { hasText: 'Certificates (' });
    await certificates.locator('summary').click();
    await certificates.locator('select').selectOption('sha256');
    expect(await certificates.locator('table').first().textContent()).toMatch(/[0-9a-f]{64}1$/);
  });

  test('T93 a dropped folder is verified, and its certificates open and can be saved', async () => {
    const { folder, hex, olderCheckpoint } = await exportFolder('2025');
    const page = await openChecker('dark');
    await dropFolder(page, folder);
    await expect.poll(() => readOutput(page, '#chosen')).toMatch(/^folder: 5 files/);
    await fillForm(page, hex, olderCheckpoint);
    expect(await page.textContent('.verdict')).toContain('Verified');
    expect(await page.textContent('#report')).toContain('Retirements, first observed in 2025');
    expect(await page.textContent('#report')).toContain('Months and years are in UTC.');
    expect(await page.textContent('#report')).toContain(
      'What is not provenThat the registry sent these records.',
    );
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await takePicture(page, 'period-dark');
    await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Open the certificate of b' }).click(),
    ]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the certificate of b' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('certificate-b.pdf');
    const [pdf = ''] = listPaths(folder).filter(path => path.endsWith('.pdf'));
    expect(readFileSync(await download.path())).toEqual(readFileSync(join(folder, pdf)));
  });

  test('T93 a forged folder, a wrong key and a folder of something else show a fault and no row', async () => {
    const { folder, hex, olderCheckpoint } = await exportFolder('organization-1');
    const page = await openChecker();
    await page.click('#check');
    await expect.poll(() => readOutput(page, '#progress')).toBe('Choose a folder first.');
    await page.setInputFiles('#folder', folder);
    await fillForm(page, 'a1'.repeat(32), olderCheckpoint);
    expect(await page.textContent('.verdict')).toContain(
      'Fault: the checkpoint is not signed by the given key',
    );
    alterFile(folder, 'evidence.jsonl', text => text.replace('Voluntary', 'voluntary'));
    await page.reload();
    await page.setInputFiles('#folder', folder);
    await fillForm(page, hex, olderCheckpoint);
    expect(await page.textContent('.verdict')).toContain('Not verified');
    expect(await page.textContent('.verdict')).toContain('do not lead to the root of the checkpoint');
    expect(await page.locator('table, details').count()).toBe(0);
    await takePicture(page, 'forged');
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await page.setInputFiles('#folder', import.meta.dirname);
    await fillForm(page, hex);
    expect(await page.textContent('.verdict')).toContain('evidence.jsonl is missing');
  });

  test('T93 a large folder shows progress, its first rows, and all of them on request', async () => {
    const folder = temporaryFolder();
    const hex = writeSyntheticEvidence(folder, ROWS, CERTIFICATES);
    const page = await openChecker();
    await page.evaluate(`(() => {
      window.steps = [];
      const observer = new MutationObserver(() => window.steps.push(document.querySelector('#progress').value));
      observer.observe(document.querySelector('#progress'), { childList: true, characterData: true, subtree: true });
    })()`);
    await page.setInputFiles('#folder', folder);
    await fillForm(page, hex);
    expect(await page.textContent('.verdict')).toContain('Verified');
    const steps = await page.evaluate<string[]>('window.steps');
    expect(steps).toContainEqual(`Hashing certificates: ${CERTIFICATES} of ${CERTIFICATES} …`);
    const table = page.locator('details').first();
    expect(await table.locator('tbody tr').count()).toBe(200);
    await table.getByRole('button', { name: `Show all ${ROWS} rows` }).click();
    expect(await table.locator('tbody tr').count()).toBe(ROWS);
    await table.locator('input[type=search]').fill('Beneficiary 96');
    expect(await table.textContent()).toContain(`${Math.floor(ROWS / 97)} rows of ${ROWS}`);
  });

  test('T93 a browser without Ed25519 could not check, and says so', async () => {
    const { folder, hex } = await exportFolder('2025');
    const page = await openChecker();
    await page.evaluate(`SubtleCrypto.prototype.importKey = async () => {
      throw new DOMException('Unrecognized name.', 'NotSupportedError');
    }`);
    await page.setInputFiles('#folder', folder);
    await fillForm(page, hex);
    expect(await page.textContent('.verdict')).toMatch(/Could not be checked.*Ed25519 is not available here/);
  });
});
