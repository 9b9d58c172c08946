import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/inbox.js';
import { long } from '../support/long.js';
import { freePort, runProcess, startProcess } from '../support/processes.js';
import { tablesIn } from '../support/tables.js';

const PATIENCE = { timeout: 120_000, interval: 200 };
const DAY_MS = 86_400_000;

async function newDemo() {
  const env = {
    PORT: String(await freePort()),
    SANDBOX_PORT: String(await freePort()),
    CONSOLE_PORT: String(await freePort()),
    OPERATIONS_PORT: '0',
  };
  return { cwd: temporaryFolder(), env };
}

test('a demo has six months of a past, which it plays once, and which nobody has to believe', async () => {
  const { cwd, env } = await newDemo();
  const first = startProcess(['up'], env, cwd);
  await expect.poll(() => first.said(), PATIENCE).toContain('Ready: ');

  const { rows } = tablesIn(`${cwd}/data/demo`);
  const [origin] = await rows('SELECT created_at, simulated_until FROM origin');
  const begun = Date.parse(String(origin?.['created_at']));
  const until = String(origin?.['simulated_until']);
  expect((Date.parse(until) - begun) / DAY_MS).toBeCloseTo(180, 1);
  const months = await rows('SELECT DISTINCT substr(observed_at, 1, 7) AS month FROM changes');
  expect(months.length).toBeGreaterThanOrEqual(6);
  expect(await rows('SELECT resource FROM drift WHERE resource IS NOT NULL')).not.toEqual([]);
  expect(await rows('SELECT * FROM restatements')).toHaveLength(1);
  expect(await rows("SELECT 1 FROM installations_history WHERE state = 'suspended'")).toHaveLength(1);
  expect(await rows("SELECT 1 FROM reservations_now WHERE state_now = 'outstanding'")).toHaveLength(2);
  expect(await rows("SELECT DISTINCT state FROM freshness WHERE state <> 'not_offered'")).toEqual([
    { state: 'fresh' },
  ]);
  const verified = await runProcess(['verify', '--against-registry'], env, cwd);
  expect(verified).toMatchObject({ exitCode: 0 });
  expect(await runProcess(['balance'], env, cwd)).toMatchObject({ exitCode: 0 });

  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  await first.gone;
  const played = `SELECT count(*) AS syncs FROM syncs WHERE started_at < '${until}'`;
  const before = await rows(played);
  const second = startProcess(['up'], env, cwd);
  await expect.poll(() => second.said(), PATIENCE).toContain('Ready: ');
  expect(await rows(played)).toEqual(before);
  second.child.kill('SIGTERM');
  await second.gone;
});

long.test('a demo that is stopped while it plays its past goes on at the present', async () => {
  const { cwd, env } = await newDemo();
  const first = startProcess(['up'], env, cwd);
  const { rows } = tablesIn(`${cwd}/data/demo`);
  const syncs = async () => {
    const [counted] = await rows('SELECT count(*) AS syncs FROM syncs').catch(() => []);
    return Number(counted?.['syncs'] ?? 0);
  };
  await expect.poll(syncs, PATIENCE).toBeGreaterThan(0);
  first.child.kill('SIGKILL');
  await first.gone;
  const second = startProcess(['up'], env, cwd);
  await expect.poll(() => second.said(), PATIENCE).toContain('Ready: ');
  expect(await runProcess(['verify', '--against-registry'], env, cwd)).toMatchObject({ exitCode: 0 });
  second.child.kill('SIGTERM');
  await second.gone;
});
