import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from '../../src/app/receive.js';
import { startWorker } from '../../src/app/work.js';
import { startHeartbeats } from '../../src/app/heartbeats.js';
import { readSettings } from '../../src/app/config/read-settings.js';
import { createLog } from '../../src/app/log.js';
import { createMask } from '../../src/text/mask.js';
import { APP_ID, SECRET } from '../support/receiver.js';
import { temporaryFolder } from '../support/inbox.js';
import { findFreePort } from '../support/processes.js';
import { createTime } from '../support/program.js';
import { createPrivateKey } from '../support/sandbox.js';
import { openTablesIn } from '../support/tables.js';

const MINUTE = 60_000;

async function scene() {
  const time = createTime();
  const dataDir = temporaryFolder();
  const operations = await findFreePort();
  const env = {
    REGISTRY_BASE_URL: 'http://127.0.0.1:9',
    REGISTRY_APP_ID: APP_ID,
    REGISTRY_PRIVATE_KEY: createPrivateKey(),
    WEBHOOK_SECRETS: SECRET,
    DATA_DIR: dataDir,
    PORT: '0',
  };
  const log = createLog({ level: 'silent', mask: createMask([]), now: time.now, pretty: false });
  const tools = { log, now: time.now };
  const settings = await readSettings({ ...env, OPERATIONS_PORT: String(operations) }, 'receive');
  const receive = await startReceiver(settings, tools);
  onTestFinished(() => receive.stop());

  async function work(syncSchedule: string | null) {
    const workerSettings = await readSettings({ ...env, OPERATIONS_PORT: '0' }, 'work');
    return await startWorker({ ...workerSettings, syncSchedule }, tools);
  }

  const isReady = async () => (await fetch(`http://127.0.0.1:${operations}/readyz`)).json();
  return { time, work, isReady, ...openTablesIn(dataDir) };
}

test('a receiver becomes unready after two minutes if no worker has ever used its inbox, and ready again once one has', async () => {
  const { time, work, isReady } = await scene();
  expect(await isReady()).toMatchObject({ checks: { worker: 'ok' } });
  time.move(2 * MINUTE + 1);
  expect(await isReady()).toMatchObject({
    status: 503,
    checks: { worker: 'no worker has ever used this inbox: is it on the same disk?', inbox: 'ok' },
  });
  const worker = await work('*/15 * * * *');
  await worker.stop();
  expect(await isReady()).toMatchObject({ status: 'ok', checks: { worker: 'ok' } });
});

test('a receiver stays ready when its worker dies, because it must keep storing deliveries', async () => {
  const { time, work, isReady } = await scene();
  const worker = await work('*/15 * * * *');
  await worker.stop();
  time.move(600 * MINUTE);
  expect(await isReady()).toMatchObject({ checks: { worker: 'ok' } });
});

test('receiver and worker write heartbeats from the start, but a sync without a schedule does not count as a worker', async () => {
  const { work, rows } = await scene();
  const roles = () => rows('SELECT role FROM processes ORDER BY role');
  await expect.poll(roles).toEqual([{ role: 'receive' }]);
  const passing = await work(null);
  await passing.stop();
  expect(await roles()).toEqual([{ role: 'receive' }]);
  expect(await rows('SELECT worker_seen_at FROM origin')).toEqual([{ worker_seen_at: null }]);
  const worker = await work('*/15 * * * *');
  await worker.stop();
  expect(await roles()).toEqual([{ role: 'receive' }, { role: 'work' }]);
  expect(await rows('SELECT worker_seen_at FROM origin')).toEqual([{ worker_seen_at: expect.any(String) }]);
});

test('heartbeats continue after one fails, and end when they are stopped', async () => {
  const failures: unknown[] = [];
  let heartbeats = 0;
  const sign = async () => {
    heartbeats += 1;
    if (heartbeats === 1) throw new Error('the database is locked');
  };
  const stop = startHeartbeats({
    writeHeartbeat: sign,
    onFailure: error => failures.push(error),
    intervalMs: 1,
  });
  await expect.poll(() => heartbeats).toBeGreaterThan(3);
  stop();
  const before = heartbeats;
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(heartbeats).toBe(before);
  expect(failures).toEqual([new Error('the database is locked')]);
});
