import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage, type SignedInState, saveSignedInState, startBrowser } from './browser.js';
import { type Demo, startDemo } from './demo.js';
import { chooseLength } from '../support/long.js';

const MAX_CLICKS = 4;
const read = (name: string) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
/** The clicks of each task, as docs/tasks.md states them. */
const CLICKS_BY_TASK = new Map(
  Array.from(
    read('tasks').matchAll(/^### (.+) \(\d commands?\)$[^]+?^# in the console: .+?(?:\((\d) clicks?\))?$/gm),
    ([, task = '', clicks]) => [task, Number(clicks)],
  ),
);

let demo: Demo;
let browser: Browser;
let signedInState: SignedInState;

beforeAll(async () => {
  [demo, browser] = await Promise.all([startDemo(), startBrowser()]);
  signedInState = await saveSignedInState(browser, await demo.createSignInLink());
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

/** Creates a person who starts at Now and whose clicks are counted. */
function createPerson(page: Page) {
  let clicks = 0;
  return {
    page,
    clicks: () => clicks,
    link: (name: string) => page.getByRole('link', { name, exact: true }),
    click: async (target: Locator) => {
      clicks += 1;
      await target.click();
    },
    /** Sends a form by keyboard, which counts as a click. */
    enter: async (target: Locator) => {
      clicks += 1;
      await target.press('Enter');
    },
    /** Downloads the file of a link; returns its type and first four characters. */
    take: async (target: Locator) => {
      clicks += 1;
      const answer = await page.request.get(
        new URL((await target.getAttribute('href')) ?? '', page.url()).href,
      );
      return `${answer.headers()['content-type']} ${(await answer.text()).slice(0, 4)}`;
    },
    sees: async (text: RegExp) => {
      await expect.poll(() => page.locator('main').innerText()).toMatch(text);
    },
  };
}

type Person = ReturnType<typeof createPerson>;

const TASKS: Readonly<Record<string, (person: Person) => Promise<void>>> = {
  'See what can be sold, and whether anything is wrong': person =>
    person.sees(/t ex-ante\s+available to sell now in/),
  'Reserve credits and retire them for a customer': async person => {
    await person.click(person.link('Demo'));
    await person.click(person.page.getByRole('button', { name: 'Reserve 1 t' }));
    await person.sees(/Reserved 1 t \(reservation/);
    await person.click(person.page.getByRole('button', { name: 'Retire the reserved 1 t' }));
    await person.sees(/A visitor of the demo/);
  },
  'Let a new customer install the app': async person => {
    await person.click(person.link('Demo'));
    await person.click(person.page.getByRole('button', { name: 'Let a new customer install the app' }));
    await person.sees(/Organization Customer [0-9a-f]{8} added/);
  },
  'Find failed jobs and retry them': async person => {
    await demo.tables.change(`INSERT INTO inbox.jobs (kind, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, finished_at, last_error, only_duplicates_asked)
      VALUES ('discover', 'data', 'failed', 'person', '{}', 'failed', 10, '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 'it failed', 0)`);
    await person.page.reload();
    await person.sees(/1 job has failed/);
    await person.click(person.page.getByRole('button', { name: 'Retry' }));
    await expect
      .poll(() => demo.tables.value(`SELECT count(*) FROM inbox.jobs WHERE state = 'failed'`))
      .toBe(0);
  },
  'Read the records as of a past instant': async person => {
    await person.page.getByLabel('As of').fill('now');
    await person.click(person.page.locator('form.asof button'));
    await person.sees(/t ex-ante in the warehouses\./);
  },
  'Compare two dates': async person => {
    await person.click(person.link('Changes'));
    await person.click(person.link('Compare'));
    await person.page.getByLabel('From').fill('now');
    await person.page.getByLabel('To end of').fill('now');
    await person.click(person.page.locator('form.filters button').first());
    await person.sees(/\d+ credits before, \d+ after: 0 added, 0 changed, 0 removed/);
  },
  'Show one retirement with its certificate': async person => {
    const id = String(
      await demo.tables.value(`SELECT retirement_id FROM certificates WHERE state = 'stored'`),
    );
    await person.page.getByLabel('Search').fill(id);
    await person.enter(person.page.getByLabel('Search'));
    await person.click(person.link(id).first());
    await person.sees(/certificate matches its hash/);
    expect(await person.take(person.link('Open the certificate').first())).toBe('application/pdf %PDF');
  },
  'Check that nothing was changed by hand': async person => {
    await person.click(person.link('Changes'));
    await person.click(person.link('Reconciliation'));
    await person.click(person.page.getByRole('button', { name: 'Compare with the registry' }));
    await person.sees(/match the registry\./);
  },
  'Check that the balances add up': async person => {
    await person.click(person.link('Changes'));
    await person.click(person.link('Reconciliation'));
    await person.sees(/All [\d,]+ checks passed\./);
  },
  'Check that a webhook arrives and is processed': async person => {
    await person.click(person.link('Operations'));
    await person.click(person.page.locator('tbody a').first());
    await person.sees(/answered 202/);
  },
  'Find out why webhooks are rejected': async person => {
    await demo.tables.change(
      `INSERT INTO inbox.rejected_webhooks VALUES (strftime('%Y-%m-%dT%H:%M', 'now'), 'wrong_signature', 401, '', 3, strftime('%Y-%m-%dT%H:%M:%S.000Z', 'now'))`,
    );
    await person.page.reload();
    await person.click(person.page.getByRole('link', { name: /^\d+ rejected$/ }));
    await person.sees(/wrong_signature/);
  },
  'Read recent changes as JSON': async person => {
    await person.click(person.link('Changes'));
    expect(await person.take(person.link('JSON'))).toMatch(/^application\/json.* \[/);
  },
};

test('each console task of docs/tasks.md that states its clicks is tested here', () => {
  const tasks = Array.from(read('tasks').matchAll(/^### (.+) \(\d commands?\)$/gm), ([, task]) => task);
  expect([...CLICKS_BY_TASK.keys()]).toEqual(tasks);
  expect(Object.keys(TASKS)).toEqual(tasks.filter((task = '') => !Number.isNaN(CLICKS_BY_TASK.get(task))));
});

/** Every task in a long run, otherwise every fourth. */
const PLAYED = Object.keys(TASKS).filter((_, task) => task % chooseLength(4, 1) === 0);

test.each(PLAYED)('a person completes the task in the stated number of clicks: %s', async task => {
  const page = await openPage(browser, demo.origin, signedInState);
  await page.goto(demo.origin);
  const person = createPerson(page);
  await TASKS[task]?.(person);
  expect(person.clicks()).toBe(CLICKS_BY_TASK.get(task));
  expect(person.clicks()).toBeLessThanOrEqual(MAX_CLICKS);
});
