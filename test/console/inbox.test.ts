import { expect, test } from 'vitest';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { credit, retirement } from '../support/mirror/rows.js';
import type { Tables } from '../support/tables.js';

const AT = '2026-05-04T12:00:00.';

/** Inserts delivery 7 and its job 5. */
async function insertDelivery(tables: Tables): Promise<void> {
  await tables.change(`INSERT INTO inbox.jobs (id, kind, organization_id, installation_id, part, dedupe_key, trigger, payload, state, outcome,
    attempts, run_at, created_at, started_at, finished_at, claim, only_duplicates_asked) VALUES (5, 'installation', 'organization-1', 'installation-1', 'data',
    'k', 'delivery', '{}', 'done', 'read', 1, '${AT}000Z', '${AT}000Z', '${AT}012Z', '${AT}900Z', 1, 0)`);
  await tables.change(`INSERT INTO inbox.deliveries (id, received_at, event, installation_id, signed_text_sha256, stored_text_id, verdict, secret_index, duplicates, job_id)
    VALUES (7, '${AT}000Z', 'warehouseTransaction', 'installation-1', 'digest', 1, 'accepted', 0, 0, 5)`);
}

test('a delivery page shows a timeline from its arrival over its job to the changes, with links', async () => {
  const { tables, page, scene } = await openConsoleStage();
  await insertDelivery(tables);
  await scene.read('retirements', [retirement('r-1'), retirement('r-2')]);
  await tables.change(
    `UPDATE syncs SET job_id = 5, started_at = '${AT}020Z', finished_at = '${AT}200Z' WHERE resource = 'retirements'`,
  );
  const shown = await page('/deliveries/7');
  const timeline = getPageText(/<ol class="timeline">([^]*?)<\/ol>/.exec(shown)?.[1] ?? '');
  expect(timeline).toMatch(
    /^Received 4 May 2026, 12:00:00\.000 UTC .* Verified and stored answered 202; .* Processed by job 5, done, started after 12 ms Read 1 list retirements in 180 ms, 2 rows changed 2 rows changed 2 retirements added$/,
  );
  expect(shown).toMatch(/<a href="\/syncs\?id=\d+">retirements<\/a>/);
  expect(shown).toContain('<a href="/jobs/5">job 5</a>');
  expect(shown).toContain('<li class="good"><strong>2 rows changed</strong>');
  expect(getPageText(await page('/jobs/5'))).toMatch(/attempt 1 after 12 ms .*Read 1 list /);
});

test('a timeline says that lists which were not read may have changed', async () => {
  const { tables, page, scene } = await openConsoleStage();
  await insertDelivery(tables);
  await scene.read('retirements', []);
  await tables.change(
    `UPDATE syncs SET job_id = 5, state = 'failed', error = 'The registry answered 503.' WHERE resource = 'retirements'`,
  );
  const shown = await page('/deliveries/7');
  const words = getPageText(shown);
  expect(words).toMatch(/1 of 1 list not read retirements .*failed \(503\)/);
  expect(words).toContain('No changes known Lists that were not read may have changed.');
  expect(words).not.toContain('Nothing changed');
  expect(shown).toContain('<li class="bad"><strong>1 of 1 list not read');
});

test('a timeline counts the last read of each list and all changes, and draws no conclusion before the job ends', async () => {
  const { tables, page, scene } = await openConsoleStage();
  await insertDelivery(tables);
  await tables.change("UPDATE inbox.jobs SET state = 'waiting', finished_at = NULL, outcome = NULL");
  await scene.read('retirements', [retirement('r-1')]);
  await tables.change("UPDATE syncs SET state = 'partial' WHERE resource = 'retirements'");
  await scene.read('retirements', [retirement('r-1')]);
  await tables.change("UPDATE syncs SET job_id = 5 WHERE resource = 'retirements'");
  expect(getPageText(await page('/deliveries/7'))).toMatch(
    /Read 1 list .*1 row changed Processing has not finished/,
  );
  await tables.change(`UPDATE inbox.jobs SET state = 'done', finished_at = '${AT}900Z'`);
  const over = await page('/deliveries/7');
  expect(getPageText(over)).toMatch(/Read 1 list .*1 row changed 1 retirement added/);
  expect(over).not.toContain('not read');
  await tables.change("UPDATE inbox.jobs SET state = 'failed'");
  expect(await page('/deliveries/7')).toContain('Lists that were not read may have changed.');
});

test('a waiting job states on its page and in the list why it waits', async () => {
  const { tables, page } = await openConsoleStage();
  await insertDelivery(tables);
  await tables.change(`UPDATE inbox.jobs SET kind = 'reservations', trigger = 'worker', state = 'waiting', outcome = NULL,
    started_at = NULL, finished_at = NULL`);
  expect(getPageText(await page('/jobs'))).toContain('waits until a reservation expires');
  expect(getPageText(await page('/jobs/5'))).toMatch(
    /Scheduled for 4 May 2026, .*, waits until a reservation expires/,
  );
});

test('ages on a page are in parts that update live', async () => {
  const { tables, page, scene } = await openConsoleStage();
  await insertDelivery(tables);
  await scene.read('warehouse', [credit('c-1')]);
  const parts = [
    ['/deliveries/7', 'came'],
    ['/changes', 'span'],
    ['/changes', 'choices'],
    ['/warehouse/c-1', 'known-0'],
    ['/projects/project-1', 'available'],
  ];
  for (const [path = '', part] of parts)
    expect(await page(path), path).toMatch(new RegExp(`id="${part}"[^>]* data-live>`));
});

test('rejected webhooks have a list by reason, linked from Now', async () => {
  const { tables, page } = await openConsoleStage();
  await tables.change(
    `INSERT INTO inbox.rejected_webhooks VALUES ('2026-05-04T11:59', 'wrong_signature', 401, '', 3, '${AT}000Z')`,
  );
  expect(await page('/')).toContain('<a href="/rejected-webhooks">3 rejected</a>');
  expect(getPageText(await page('/rejected-webhooks'))).toMatch(/wrong_signature.*somebody else sent these/s);
  expect(getPageText(await page('/deliveries'))).toContain(
    '3 webhooks were rejected and none was accepted: wrong signature.',
  );
});

test('every id on a page is a link, and Help links to every list', async () => {
  const { page, tables } = await openConsoleStage();
  await tables.change(`INSERT INTO inbox.jobs (id, kind, organization_id, installation_id, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, finished_at, merged_into, only_duplicates_asked)
    VALUES (5, 'installation', 'a&b', 'installation-1', 'data', 'k', 'delivery', '{}', 'done', 1, '${AT}000Z', '${AT}000Z', '${AT}900Z', 6, 0)`);
  const job = await page('/jobs/5');
  for (const href of ['/organizations/a%26b', '/installations?id=installation-1', '/jobs/6'])
    expect(job).toContain(`href="${href}"`);
  const help = await page('/help');
  for (const { name } of ALL_LISTS) expect(help).toContain(`href="/${name}"`);
  expect(await page('/warehouse?as-of=2026-05-04&vintage=2021')).toMatch(
    /<a href="\/warehouse\?as-of=2026-05-04[^"]*">Clear filters<\/a>/,
  );
});

test('columns named drift, part, trigger, kind and verdict link to their explanations in help', async () => {
  const { scene, page, tables } = await openConsoleStage({ now: Date.now });
  await scene.read('retirements', [retirement('r-1')]);
  await tables.change('UPDATE syncs SET drift = 1');
  await tables.change('UPDATE resource_states SET drift_total = 1');
  await tables.change(`INSERT INTO inbox.jobs (id, kind, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, only_duplicates_asked)
    VALUES (9, 'tick', 'data', 'k', 'schedule', '{}', 'waiting', 0, '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 0)`);
  const help = await page('/help');
  const linked = async (path: string) =>
    Array.from(
      (await page(path)).matchAll(/<a class="term" href="\/help#(\w+)" title="[^"]+">/g),
      ([, id]) => id,
    );
  expect(await linked('/jobs')).toEqual(['kind', 'trigger', 'part']);
  expect(await linked('/syncs')).toEqual(['drift', 'trigger']);
  expect(await linked('/organizations/organization-1')).toEqual(['drift']);
  for (const id of ['drift', 'part', 'trigger', 'kind', 'verdict'])
    expect(help, id).toContain(`<dt id="${id}">`);
  expect(getPageText(await page('/jobs/9'))).toContain('This job starts a scheduled round of reads.');
});
