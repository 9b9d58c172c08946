import { expect, test } from 'vitest';
import { type ComparisonResult, createComparisonRunner } from '../../src/console/registry-comparison.js';
import { createConsoleActions } from '../../src/app/console-actions.js';
import { openConsoleStage, getPageText } from '../support/console.js';

const BRIMVIK = { organization_id: 'organization-1', organization_name: 'Brimvik' };
const LEFT: ComparisonResult['uncompared'] = [
  { ...BRIMVIK, resource: 'inventory', state: 'no_access', reason: 'no_permission' },
  { ...BRIMVIK, organization_name: null, resource: '*', state: 'no_access', reason: 'suspended' },
];
const SAME: ComparisonResult = { faults: [], rows: 1204, organizations: 3, known: 4, uncompared: LEFT };
const BUTTON = '<button>Compare with the registry</button>';

/** Opens a console whose comparisons with the registry end when the test says so. */
async function openComparisonStage() {
  const asked: {
    tell: (reading: string) => void;
    end: (found: ComparisonResult | Error) => void;
    stop: AbortSignal;
  }[] = [];
  const comparison = createComparisonRunner(
    (tell, stop) =>
      new Promise((resolve, reject) => {
        const end = (found: ComparisonResult | Error) =>
          found instanceof Error ? reject(found) : resolve(found);
        stop.addEventListener('abort', () => reject(new Error('it was stopped')));
        asked.push({ tell, end, stop });
      }),
    Date.now,
  );
  const said: unknown[] = [];
  const openInbox = () => Promise.reject(new Error('no inbox is needed'));
  const actions = createConsoleActions(
    openInbox,
    { info: (fact: unknown) => void said.push(fact) },
    comparison,
  );
  const visit = await openConsoleStage({ now: Date.now, actions, comparison });
  const section = async () => {
    const page = await visit.page('/balance');
    return getPageText(/<section id="registry"[^]*?<\/section>/.exec(page)?.[0] ?? '');
  };
  return { ...visit, asked, said, comparison, section };
}

test('a button starts one comparison at a time, and the page shows its progress and result', async () => {
  const { asked, said, send, page, section } = await openComparisonStage();
  expect(await section()).toContain('No comparison since this console started.');
  expect(await page('/balance')).not.toContain('http-equiv="refresh"');
  expect((await send('/balance/compare')).headers.get('location')).toBe('/balance');
  asked[0]?.tell('warehouse of organization-1');
  asked[0]?.tell('retirements of organization-1');
  await send('/balance/compare');
  expect(asked).toHaveLength(1);
  expect(said).toEqual([
    { action: 'compare', actor: null },
    { action: 'compare', actor: null },
  ]);
  expect(await section()).toMatch(
    /in progress Started .* ago: 2 lists read, reading retirements of organization-1/,
  );
  const meanwhile = await page('/balance');
  expect(meanwhile).not.toContain(BUTTON);
  expect(meanwhile).toContain('<noscript><meta http-equiv="refresh" content="2"></noscript>');
  asked[0]?.end(SAME);
  await expect.poll(section).toContain('1,204 rows of 3 of the 4 known organizations match the registry.');
  expect(await section()).toMatch(/2 lists could not be compared\. Compared .* ago\./);
  expect(await section()).toMatch(
    /Lists that could not be compared ?Brimvik, inventory: no access .no permission.organization-1, everything: no access .suspended./,
  );
  expect(await page('/balance')).toContain(BUTTON);
});

test('a comparison lists each difference, or why it failed, and can be started again', async () => {
  const { asked, send, page, section } = await openComparisonStage();
  await send('/balance/compare');
  const fault = { check: 'retirements of organization-1', where: '<b>r-1</b>', fault: 'changed' };
  asked[0]?.end({ ...SAME, faults: [fault] });
  await expect.poll(section).toContain('1 difference in 1,204 rows');
  expect(await page('/balance')).toContain('&lt;b&gt;r-1&lt;/b&gt;');
  await send('/balance/compare');
  asked[1]?.end(new Error('The registry did not answer.'));
  await expect.poll(section).toContain('The comparison failed: The registry did not answer.');
  expect(await page('/balance')).toContain(BUTTON);
  await send('/balance/compare');
  asked[2]?.end({ ...SAME, rows: 0 });
  await expect.poll(section).toContain('Nothing was compared');
});

test('a comparison ends when the console stops, and no other starts', async () => {
  const { asked, send, comparison } = await openComparisonStage();
  await send('/balance/compare');
  await comparison.stop();
  expect(asked[0]?.stop.aborted).toBe(true);
  expect(comparison.getStatus()).toMatchObject({
    running: null,
    finished: { outcome: { fault: 'it was stopped' } },
  });
  await send('/balance/compare');
  expect(asked).toHaveLength(1);
});

test('a console without registry credentials says so and offers no comparison', async () => {
  const { page, send } = await openConsoleStage({ canAct: true });
  expect(getPageText(await page('/balance'))).toContain('This console has no registry credentials.');
  expect((await send('/balance/compare')).status).toBe(404);
});

test('T82 a page of another site cannot start a comparison', async () => {
  const { asked, port, cookie } = await openComparisonStage();
  const answer = await fetch(`http://127.0.0.1:${port}/balance/compare`, {
    method: 'POST',
    headers: { cookie, 'sec-fetch-site': 'cross-site' },
  });
  expect(answer.status).toBe(403);
  expect(asked).toEqual([]);
});
