import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openPage, startBrowser } from './browser.js';
import { startDemo } from './demo.js';

const FOLDER = fileURLToPath(new URL('../../docs/console/', import.meta.url));
const WIDE = { width: 1280, height: 800 };
/** A page, or the first that a list leads to. */
const PICTURES = [
  ['now', '/', { colorScheme: 'light', viewport: WIDE }],
  ['now-dark', '/', { colorScheme: 'dark', viewport: WIDE }],
  ['now-narrow', '/', { colorScheme: 'light', viewport: { width: 390, height: 800 } }],
  ['changes', '/changes?since=7d', { colorScheme: 'light', viewport: WIDE }],
  ['retirement', '/retirements', { colorScheme: 'light', viewport: WIDE }],
  ['delivery', '/deliveries', { colorScheme: 'light', viewport: WIDE }],
] as const;
const LED: readonly string[] = ['retirement', 'delivery'];

/** `npm run pictures` draws docs/console/ anew; without it nobody is asked to. */
describe.runIf(process.env['PICTURES'] === '1')('pictures', () => {
  test('of the demo, small enough to stand beside the code', async () => {
    mkdirSync(FOLDER, { recursive: true });
    const demo = await startDemo();
    const browser = await startBrowser();
    try {
      for (const [name, path, options] of PICTURES) {
        const page = await openPage(browser, demo.origin, options);
        await page.goto(await demo.address());
        await page.goto(`${demo.origin}${path}`);
        if (LED.includes(name)) {
          await page.locator('tbody a').first().click();
          await page.waitForURL(`**${path}/*`);
        }
        const picture = await page.screenshot({ path: `${FOLDER}${name}.png` });
        expect(picture.length, name).toBeLessThan(300_000);
      }
    } finally {
      await browser.close();
      await demo.stop();
    }
  });
});
