import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { openConsoleStage } from '../support/console.js';
import { credit, retirement } from '../support/mirror/rows.js';
import { storeCertificate } from '../support/certificates.js';
import { openPage, startBrowser } from './browser.js';
import { long } from '../support/long.js';

const HOSTILE = `"'><img src=/hit onerror="window.hit=1"><script>window.hit=1</script><b>${'long'.repeat(30)}`;
const AT = '2026-05-04T12:00:00.000Z';
const NARROW = { width: 380, height: 800 };

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Opens a console over a mirror in which every text that others choose is markup. */
async function openHostileMirror() {
  const stage = await openConsoleStage({ canAct: true, now: Date.now });
  const { scene, tables } = stage;
  const project = { id: 'p-1', fullName: HOSTILE };
  const base = { project, serialization: HOSTILE, vintage: HOSTILE, type: HOSTILE };
  await scene.read('organization', [
    {
      id: 'organization-1',
      fullName: HOSTILE,
      type: HOSTILE,
      countryCode: null,
      city: HOSTILE,
      zip: null,
      physicalAddress: HOSTILE,
      registrationNumber: null,
      logo: `javascript:window.hit=1//${HOSTILE}`,
      website: `javascript:window.hit=1//${HOSTILE}`,
      isPublic: true,
      createdAt: null,
      updatedAt: null,
      document: JSON.stringify({ fullName: HOSTILE }),
    },
  ]);
  await scene.read('warehouse', [credit('c-1', base)]);
  await scene.read('inventory', [credit('c-1', { ...base, inventoryId: 'i-1' })]);
  const reserved = { ...credit('c-2', base), state: null, isComplete: false };
  await scene.read('reservations', [
    {
      ...reserved,
      id: 's-1',
      reserverId: 'app-1',
      reserverName: HOSTILE,
      reservedToDate: '2999-01-01T00:00:00Z',
      createdAt: AT,
      updatedAt: null,
    },
  ]);
  await scene.read('members', [{ id: 'm-1', fullName: HOSTILE, email: HOSTILE, document: '{}' }]);
  await scene.read('addresses', [
    { id: 'a-1', address: HOSTILE, name: HOSTILE, isDefault: true, document: '{}' },
  ]);
  const words = { beneficiary: HOSTILE, reason: HOSTILE, comment: HOSTILE };
  await scene.read('retirements', [retirement('r-1', { ...base, ...words })]);
  await storeCertificate(scene, 'r-1');
  await tables.change(
    `INSERT INTO inbox.jobs (id, kind, organization_id, installation_id, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, started_at, finished_at, last_error, claim, only_duplicates_asked)
    VALUES (5, 'installation', 'organization-1', 'installation-1', 'data', 'k', 'delivery', '{}', 'failed', 10, '${AT}', '${AT}', '${AT}', '${AT}', ?, 1, 0)`,
    HOSTILE,
  );
  await tables.change(
    `INSERT INTO inbox.deliveries (id, received_at, event, installation_id, signed_text_sha256, stored_text_id, verdict, ignored_reason, secret_index, duplicates, job_id)
    VALUES (7, '${AT}', ?, 'installation-1', 'digest', 1, 'accepted', NULL, 0, 0, 5), (8, '${AT}', ?, ?, 'digest', 1, 'ignored', ?, 0, 0, NULL)`,
    ...Array.from({ length: 4 }, () => HOSTILE),
  );
  await tables.change(
    `INSERT INTO inbox.rejected_webhooks VALUES (strftime('%Y-%m-%dT%H:%M', 'now'), ?, 401, ?, 3, strftime('%Y-%m-%dT%H:%M:%S.000Z', 'now'))`,
    HOSTILE,
    HOSTILE,
  );
  await tables.change('UPDATE syncs SET error = ?, job_id = 5', HOSTILE);
  return stage;
}

/** Pages without any text from the registry. */
const WITHOUT = ['/help'];

/** Pages that also show the request. */
const encodedName = encodeURIComponent(HOSTILE);
const ASKED = [
  `/search?q=${encodedName}`,
  '/search?q=long',
  `/ask?sql=${encodedName}`,
  `/retirements?beneficiary=${encodedName}`,
  `/changes?since=${encodedName}`,
  `/jobs?state=failed`,
  '/?as-of=now',
  '/warehouse?as-of=now',
  '/organizations/organization-1?as-of=now',
  '/retirements/r-1?as-of=now',
];

const INSPECT_PAGE = `({
  made: document.querySelectorAll('img, b:not(.hero b), iframe, base, script:not([src="/console.js"])').length,
  led: document.querySelectorAll('[href^="javascript:" i], [data^="javascript:" i]').length,
  hit: window.hit ?? null,
  wider: document.documentElement.scrollWidth > innerWidth,
  says: document.querySelector('main').textContent.includes('<img src=/hit') || document.querySelector('main [value*="<img src=/hit"]') !== null,
  links: [...document.querySelectorAll('a[href^="/"]')].map(link => link.getAttribute('href')),
})`;

interface PageFindings {
  readonly made: number;
  readonly led: number;
  readonly hit: number | null;
  readonly wider: boolean;
  readonly says: boolean;
  readonly links: readonly string[];
}

/** Returns the path of an address. Addresses that differ only in parameters count as one page. */
const getPath = (address: string): string => new URL(address, 'http://console').pathname;

/** Follows all links from Now; returns all paths, and those of pages that show hostile text. */
async function visitLinkedPages(
  page: Page,
  origin: string,
): Promise<{ all: Set<string>; hostile: Set<string> }> {
  const addresses = ['/', ...ASKED];
  const all = new Set(addresses.map(getPath));
  const hostile = new Set<string>();
  for (const address of addresses) {
    await page.goto(origin + address);
    const { says, links, ...rest } = await page.evaluate<PageFindings>(INSPECT_PAGE);
    expect(rest, address).toEqual({ made: 0, led: 0, hit: null, wider: false });
    if (says) hostile.add(getPath(address));
    for (const link of links.filter(each => !/\.(csv|json|pdf)\b/.test(each))) {
      if (!all.has(getPath(link))) addresses.push(link);
      all.add(getPath(link));
    }
  }
  return { all, hostile };
}

long.test(
  'T83 markup in names is shown as text on every linked page, and makes no page wider than 380 pixels',
  async () => {
    const { port, keys } = await openHostileMirror();
    const origin = `http://127.0.0.1:${port}`;
    const page = await openPage(browser, origin, { viewport: NARROW });
    await page.goto(`${origin}/?key=${keys.createSignInKey()}`);
    const { all, hostile } = await visitLinkedPages(page, origin);
    expect([...all].filter(path => !hostile.has(path)).toSorted()).toEqual(WITHOUT);
  },
);
