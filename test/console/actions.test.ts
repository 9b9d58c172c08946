import { expect, test } from 'vitest';
import { openConsoleStage, getPageText } from '../support/console.js';
import { writeInstallation } from '../support/mirror/open.js';

const JOBS = `INSERT INTO inbox.jobs (id, kind, organization_id, installation_id, part, dedupe_key, trigger, payload, state,
  attempts, run_at, created_at, last_error, only_duplicates_asked, finished_at)
  VALUES (?, 'installation', 'organization-1', 'installation-1', 'data', ?, 'delivery', '{}', ?, 10,
  '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 'the registry answered 500', 0, ?)`;
const DELIVERY = `INSERT INTO inbox.deliveries (id, received_at, event, installation_id, signed_text_sha256, stored_text_id, verdict, secret_index, duplicates, job_id)
  VALUES (7, '2026-05-04T12:00:00.000Z', 'warehouseTransaction', ?, 'digest', 1, 'accepted', 0, 0, 1)`;

async function openConsoleWithJobs(canAct = true) {
  const stood = await openConsoleStage({ canAct, now: Date.now });
  const { tables } = stood;
  const ended = '2026-05-04T12:00:01.000Z';
  await tables.change(JOBS, 1, 'one', 'failed', ended);
  await tables.change(JOBS, 2, 'two', 'failed', ended);
  await tables.change(JOBS, 3, 'three', 'paused', null);
  await tables.change(DELIVERY, 'installation-1');
  const waiting = () =>
    tables.rows("SELECT kind, installation_id, trigger FROM inbox.jobs WHERE state = 'waiting' ORDER BY id");
  return { ...stood, waiting };
}

const LOOK = { kind: 'installation', installation_id: 'installation-1', trigger: 'person' };

test('a failed job is retried by its button, and the log records that a person requested it', async () => {
  const { send, page, loggedActions: asked, tables } = await openConsoleWithJobs();
  expect(await page('/jobs/1')).toContain('<form class="act" method="post" action="/jobs/1/retry">');
  const answer = await send('/jobs/1/retry');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/jobs/1']);
  expect(await tables.rows('SELECT state FROM inbox.jobs WHERE id <= 2 ORDER BY id')).toMatchObject([
    { state: 'waiting' },
    { state: 'failed' },
  ]);
  expect(asked).toMatchObject([{ action: 'retry', requested: [1], jobs: [1] }]);
});

test('the job list shows why a job failed, and the job page until the job succeeds', async () => {
  const { page, tables } = await openConsoleWithJobs();
  const why = 'the registry answered 500';
  expect(getPageText(await page('/jobs?state=failed'))).toContain(why);
  expect(getPageText(await page('/jobs/1'))).toContain(`Last error${why}`);
  await tables.change("UPDATE inbox.jobs SET state = 'done', outcome = 'read' WHERE id = 1");
  expect(getPageText((await page('/jobs/1')).split('Technical')[0] ?? '')).not.toContain(why);
});

test('one button beside the issue retries all failed jobs', async () => {
  const { send, page, waiting, loggedActions: asked } = await openConsoleWithJobs();
  const now = await page('/');
  expect(getPageText(now)).toContain('2 jobs have failed');
  expect(now).toContain('action="/jobs/retry"');
  await send('/jobs/retry');
  expect((await waiting()).length).toBeGreaterThan(0);
  expect(getPageText(await page('/'))).not.toContain('have failed');
  expect(asked).toMatchObject([{ action: 'retry', requested: 'all' }]);
});

test('Read now on a delivery syncs its organization and redirects to the job', async () => {
  const { send, page, waiting, loggedActions: asked } = await openConsoleWithJobs();
  expect(await page('/deliveries/7')).toMatch(
    /action="\/read-now">.*<input type="hidden" name="organization_id" value="organization-1">/,
  );
  const answer = await send('/read-now', { organization_id: 'organization-1' });
  expect(answer.headers.get('location')).toMatch(/^\/jobs\/\d+$/);
  expect(await waiting()).toEqual([LOOK]);
  expect(asked).toMatchObject([{ action: 'sync', installations: ['installation-1'] }]);
});

test('Read now syncs one organization or all of them', async () => {
  const { send, waiting, scene } = await openConsoleWithJobs();
  await writeInstallation(scene, 2);
  await send('/read-now', { organization_id: 'organization-1' });
  expect(await waiting()).toEqual([LOOK]);
  await send('/read-now');
  expect(await waiting()).toMatchObject([
    LOOK,
    { installation_id: 'installation-2' },
    { kind: 'discover', trigger: 'person' },
  ]);
});

test('an action on an unknown job or organization answers 404 and does nothing', async () => {
  const { send, waiting, loggedActions: asked } = await openConsoleWithJobs();
  for (const path of ['/jobs/9/retry', '/jobs/x/retry']) expect((await send(path)).status, path).toBe(404);
  expect((await send('/read-now', { organization_id: 'nobody' })).status).toBe(404);
  expect(await waiting()).toEqual([]);
  expect(asked).toEqual([]);
});

const PATHS = ['/jobs/1/retry', '/jobs/retry', '/read-now'];

test('with --read-only no page offers actions and every action answers 404', async () => {
  const { send, page, waiting } = await openConsoleWithJobs(false);
  for (const path of ['/', '/jobs/1', '/jobs/3', '/deliveries/7', '/organizations/organization-1'])
    expect((await page(path)).replace(/<footer>.*<\/footer>/s, ''), path).not.toContain('method="post"');
  for (const path of PATHS) expect((await send(path)).status, path).toBe(404);
  expect(await waiting()).toEqual([]);
});

test('T82 a page of another site cannot request actions', async () => {
  const { sendRaw: ask, cookie, waiting, loggedActions: asked } = await openConsoleWithJobs();
  for (const path of PATHS) {
    for (const line of ['sec-fetch-site: cross-site', 'origin: http://evil.example', 'x-no: origin']) {
      const answer = await ask(`POST ${path}`, 'host: localhost', `cookie: ${cookie}`, line);
      expect(answer.slice(9, 12)).toBe('403');
    }
    const shown = await ask(`GET ${path}`, 'host: localhost', `cookie: ${cookie}`);
    expect(shown.slice(9, 12)).toBe('404');
  }
  expect(await waiting()).toEqual([]);
  expect(asked).toEqual([]);
});
