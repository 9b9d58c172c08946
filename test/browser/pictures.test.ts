import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openPage, startBrowser } from './browser.js';
import { startDemo } from './demo.js';

const FOLDER = fileURLToPath(new URL('../../docs/console/', import.meta.url));
const PICTURES = [
  ['now', '/', { colorScheme: 'light', viewport: { width: 1100, height: 760 } }],
  ['now-dark', '/', { colorScheme: 'dark', viewport: { width: 1100, height: 760 } }],
  ['now-narrow', '/', { colorScheme: 'light', viewport: { width: 380, height: 760 } }],
  ['changes', '/changes', { colorScheme: 'light', viewport: { width: 1100, height: 760 } }],
] as const;

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
        const picture = await page.screenshot({ path: `${FOLDER}${name}.png` });
        expect(picture.length, name).toBeLessThan(200_000);
      }
    } finally {
      await browser.close();
      await demo.stop();
    }
  });
});
