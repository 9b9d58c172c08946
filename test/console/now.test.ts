import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openBoth } from '../../src/engines/sqlite/open-both.js';
import { readerOf } from '../../src/engines/sqlite/reader.js';
import { visitConsole, type Visit } from '../support/console.js';
import { temporaryInbox } from '../support/inbox.js';
import { amount, credit, type Scene, temporaryScene } from '../support/mirror.js';

interface Stage extends Visit {
  readonly scene: Scene;
  /** What the page says, without its markup. */
  readonly sentence: () => Promise<string>;
}

async function stage(): Promise<Stage> {
  const scene = temporaryScene();
  temporaryInbox(scene.folder);
  scene.clock.at = Date.now();
  const db = openBoth({
    mirrorFile: join(scene.folder, 'mirror.db'),
    inboxFile: join(scene.folder, 'inbox.db'),
  });
  onTestFinished(() => void db.close());
  const visit = await visitConsole(readerOf(db));
  const sentence = async () => {
    const page = await (await visit.open('/')).text();
    return wordsOf(/<h1[^>]*>([^]*?)<\/h1>/.exec(page)?.[1] ?? '');
  };
  return { ...visit, scene, sentence };
}

const wordsOf = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim();

const HOSTILE = `"><img src=x onerror=alert(1)>`;

test('what can be sold is one sentence, with how fresh it is, and what it leads to', async () => {
  const { sentence, scene, open } = await stage();
  await scene.read('warehouse', [
    credit('c-1', { amount: amount('6300.2') }),
    credit('c-2', { amount: amount('0.000001') }),
  ]);
  expect(await sentence()).toMatch(
    /^6,300\.200001 t for sale now in 1 of 1 organization\. Freshest \d s, oldest \d s\. 2 things are stuck\.$/,
  );
  const page = await (await open('/')).text();
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(page).toContain(` id="${target}"`);
});

test('a warehouse that nobody read lately is left out, by name and with the reason', async () => {
  const { sentence, scene } = await stage();
  scene.clock.at -= 3_600_000;
  await scene.read('warehouse', [credit('c-1')]);
  expect(await sentence()).toMatch(
    /^0 t for sale now in 0 of 1 organization\. organization-1 is left out: late\. 2 things are stuck\.$/,
  );
});

test('a row without an amount is told of, not counted as nothing', async () => {
  const { sentence, scene } = await stage();
  const unknown = { exact: null, value: null, micro: null, fault: 'no amount' };
  await scene.read('warehouse', [credit('c-1'), credit('c-2', { amount: unknown, document: '{}' })]);
  expect(await sentence()).toContain('100 t for sale now in 1 of 1 organization');
  expect(await sentence()).toContain('1 row has no amount that can be added.');
});

test('what is stuck is named with what helps', async () => {
  const { open } = await stage();
  const page = wordsOf(await (await open('/')).text());
  expect(page).toContain('No worker has ever run. Start one: carbon-mirror work.');
  expect(page).toContain('No receiver has ever run. Start one: carbon-mirror receive.');
});

test('T83 names of the registry are text', async () => {
  const { scene, open } = await stage();
  const project = { id: 'p-1', fullName: HOSTILE };
  await scene.read('warehouse', [credit('c-1', { project, vintage: HOSTILE, document: '{}' })]);
  const page = await (await open('/')).text();
  expect(page).not.toContain('<img');
  expect(page).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;');
});

test('a page that is not there says so, one that cannot be made too, and goes on', async () => {
  const { open, faults } = await stage();
  expect((await open('/nothing')).status).toBe(404);
  expect(faults).toEqual([]);
  expect((await open('/')).status).toBe(200);
});
