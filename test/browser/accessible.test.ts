import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPages } from '../../src/console/pages/all-pages.js';
import { SCRIPT } from '../../src/console/live/page-script.js';
import { storeCertificate } from '../support/certificates.js';
import { openConsoleStage } from '../support/console.js';
import { writeInstallation } from '../support/mirror/open.js';
import { credit, retirement } from '../support/mirror/rows.js';
import { chooseLength } from '../support/long.js';
import { reservation } from '../support/reservation.js';
import { findAccessibilityViolations, openPage, startBrowser } from './browser.js';

vi.setConfig({ testTimeout: 600_000 });

const ORGANIZATIONS = chooseLength(30, 1_000);
const AT = '2026-05-04T12:00:00.000Z';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Opens a console over many organizations, projects and vintages, with some trouble and a row for each detail page. */
async function openLargeConsole() {
  const { scene, tables, port, keys } = await openConsoleStage({
    canAct: true,
    allowsOrders: true,
    now: Date.now,
  });
  for (let n = 1; n <= ORGANIZATIONS; n++) {
    const organizationId = `organization-${n}`;
    await writeInstallation(scene, n);
    const project = { id: `project-${n % 60}`, fullName: `Project ${n % 60} of a name that takes some room` };
    const vintage = String(2010 + (n % 15));
    const type = n % 4 === 0 ? 'exAnte' : 'exPost';
    await scene.read('warehouse', [credit(`c-${n}`, { project, vintage, type })], { organizationId });
    await scene.read('retirements', [retirement(`r-${n}`, { project, vintage })], { organizationId });
  }
  await storeCertificate(scene, 'r-1');
  await scene.mirror.checkOrigin({ baseUrl: 'http://registry', appId: 'app-1', scheduleSeconds: 86_400 });
  const held = { creditId: 'c-1', reserverId: 'app-1', reservedToDate: '2999-01-01T00:00:00.000Z' };
  await scene.read('reservations', [reservation('s-1', held)], { organizationId: 'organization-1' });
  await tables.change(
    `INSERT INTO inbox.orders (key, actor, action, organization_id, credit_id, amount_exact, reservation_id, state, sent_at, result, created_at, finished_at)
    VALUES ('k', 'dana@example.com', 'reserve', 'organization-1', 'c-1', '1', 's-1', 'done', '${AT}', '1 t are reserved until ${AT}.', '${AT}', '${AT}')`,
  );
  await tables.change(
    `UPDATE resource_states SET outcome = 'failed', error = 'answered 503', failing_since = '${AT}', webhook_failed = 1 WHERE organization_id = 'organization-2'`,
  );
  await tables.change(
    `INSERT INTO inbox.jobs (id, kind, organization_id, installation_id, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, started_at, finished_at, last_error, claim, only_duplicates_asked)
    VALUES (5, 'installation', 'organization-1', 'installation-1', 'data', 'k', 'delivery', '{}', 'failed', 10, '${AT}', '${AT}', '${AT}', '${AT}', 'answered 503', 1, 0)`,
  );
  await tables.change(
    `INSERT INTO inbox.deliveries (id, received_at, event, installation_id, signed_text_sha256, stored_text_id, verdict, secret_index, duplicates, job_id)
    VALUES (7, '${AT}', 'warehouseTransaction', 'installation-1', 'digest', 1, 'accepted', 0, 2, 5)`,
  );
  await tables.change('UPDATE syncs SET job_id = 5 WHERE id = 2');
  await tables.change(
    "UPDATE installations SET state = 'suspended' WHERE organization_id = 'organization-9'",
  );
  return { origin: `http://127.0.0.1:${port}`, keys };
}

const DETAIL_PATHS: Readonly<Record<string, string>> = {
  '/organizations/:id': '/organizations/organization-2',
  '/projects/:id': '/projects/project-1',
  '/warehouse/:id': '/warehouse/c-1',
  '/inventory/:id': '',
  '/retirements/:id': '/retirements/r-1',
  '/deliveries/:id': '/deliveries/7',
  '/jobs/:id': '/jobs/5',
  '/reservations/:id': '/reservations/s-1',
  '/orders/:id': '/orders/1',
};
/** One page of each kind, and some with URL parameters. */
const ADDRESSES = [
  ...createPages()
    .map(({ path }) => DETAIL_PATHS[path] ?? path)
    .filter(path => path !== '' && !/\.(csv|json)$/.test(path)),
  '/orders/new?action=reserve&organization_id=organization-1&credit_id=c-1&amount=2.5',
  '/ask',
  '/search?q=project',
  '/?as-of=now',
  '/?all=yes',
  '/retirements?as-of=now',
  '/organizations/organization-1?as-of=now',
  '/changes?since=2026',
  '/changes?since=soon',
  '/compare?from=24h',
];
const some = ADDRESSES.filter((_, place) => place % chooseLength(36, 1) === 0);

test('no page has an accessibility violation, with many organizations, in light and in dark', async () => {
  const { origin, keys } = await openLargeConsole();
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await openPage(browser, origin, { colorScheme });
    await page.goto(`${origin}/?key=${keys.createSignInKey()}`);
    for (const path of some) {
      await page.goto(origin + path);
      expect.soft(await findAccessibilityViolations(page), `${path}, ${colorScheme}`).toEqual([]);
    }
  }
});

/** Starts an animation and counts the animated elements. */
const MOVING = `(() => {
  document.querySelector('main').style.animation = 'turn 1s infinite';
  return [...document.querySelectorAll('*')].filter(part => getComputedStyle(part).animationName !== 'none').length;
})()`;

test('a browser that prefers reduced motion shows no animation, and the script is small', async () => {
  const { port, keys } = await openConsoleStage();
  const moving = async (reducedMotion: 'reduce' | 'no-preference') => {
    const page = await openPage(browser, `http://127.0.0.1:${port}`, { reducedMotion });
    await page.goto(`http://127.0.0.1:${port}/help?key=${keys.createSignInKey()}`);
    return await page.evaluate(MOVING);
  };
  expect(await moving('no-preference')).toBe(1);
  expect(await moving('reduce')).toBe(0);
  expect(Buffer.byteLength(SCRIPT)).toBeLessThan(15_000);
});
