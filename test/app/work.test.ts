import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startWork, type WorkOptions } from '../../dist/app/work.js';
import { readSettings } from '../../dist/config.js';
import { openDatabase } from '../../src/database/open.js';
import { createLog } from '../../dist/log.js';
import type { Sandbox } from '../../src/sandbox/start.js';
import { startDemoMirror } from '../support/demo-mirror.js';
import { temporaryFolder } from '../support/inbox.js';
import { installApp, issueCredit, type TestApp, temporarySandbox } from '../support/sandbox.js';

/** The worker as `carbon-mirror work` starts it, schedule and all, in this process. */
async function startHere(sandbox: Sandbox, app: TestApp, options: Partial<WorkOptions> = {}) {
  const folder = temporaryFolder();
  const env = {
    REGISTRY_BASE_URL: sandbox.url,
    REGISTRY_APP_ID: app.id,
    REGISTRY_PRIVATE_KEY: app.privateKey,
    DATA_DIR: folder,
    OPERATIONS_PORT: '0',
  };
  const log = await createLog({ level: 'silent', secrets: [], now: Date.now, pretty: false });
  const work = await startWork({ ...(await readSettings(env, 'work')), ...options }, { log, now: Date.now });
  onTestFinished(() => work.stop());
  return {
    query: (name: 'inbox' | 'mirror', sql: string) => {
      const db = openDatabase(join(folder, `${name}.db`), { busyTimeoutMs: 1000, readonly: true });
      const rows = db.prepare<[], Record<string, unknown>>(sql).all();
      db.close();
      return rows;
    },
  };
}

test('with no webhook at all the schedule alone fills the mirror, and each of its times is taken as it is stored', async () => {
  const sandbox = await temporarySandbox();
  const { app, organization } = installApp(sandbox);
  issueCredit(sandbox, organization.id);
  const { query } = await startHere(sandbox, app, { syncSchedule: '*/2 * * * * *' });
  const amounts = () => query('mirror', 'SELECT amount FROM available_credits');
  await expect.poll(amounts, { timeout: 10_000 }).toEqual([{ amount: 100 }]);
  const unread = () => query('inbox', "SELECT id FROM jobs WHERE kind = 'tick' AND started_at IS NULL");
  const ticks = () => query('inbox', "SELECT id FROM jobs WHERE kind = 'tick' AND state = 'done'").length;
  await expect.poll(ticks, { timeout: 20_000 }).toBeGreaterThan(3);
  await expect.poll(unread, { interval: 5 }).toEqual([]);
});

test('metrics of the worker count calls, reads, rows and certificates', async () => {
  const demo = await startDemoMirror({ operations: true });
  const text = await (await fetch(`http://127.0.0.1:${demo.operationsPort}/metrics`)).text();
  await demo.stop();
  expect(text).toContain('carbon_mirror_certificates{state="stored"} 145');
  expect(text).toMatch(/carbon_mirror_rows_total\{resource="retirements",change="added"\} 150/);
  expect(text).toMatch(/sync_run_duration_seconds_count\{resource="warehouse",state="complete"\} \d+/);
  expect(text).toMatch(
    /registry_requests_total\{route="\/organizations\/:organizationId\/retirements",status="200"\} \d+/,
  );
  expect(text).not.toContain(demo.organizationIds[0]);
});
