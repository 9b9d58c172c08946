import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/registry/object-models.js';
import { APP_ID, installationOf, payloadOf, requestBytes, SECRET, signedPost } from '../support/receiver.js';
import { openConnection } from '../support/load.js';
import { pipelineUntilClosed, REPEATED_REQUESTS } from '../support/pipelining.js';
import { openSocket, readUntilClosed } from '../support/wire.js';
import { holdReader } from '../support/held-locks.js';
import { findFreePort, type StartedProcess, startProcess } from '../support/processes.js';
import { openTablesIn } from '../support/tables.js';
import { makeFolder } from '../support/folder.js';
import { long } from '../support/long.js';

function createFolder(): string {
  const folder = makeFolder('carbon-mirror-app-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Receiver extends StartedProcess {
  readonly dataDir: string;
  readonly url: string;
  readonly operationsUrl: string;
  post(event: string): Promise<Response>;
}

async function startReceiver(
  dataDir = join(createFolder(), 'data'),
  more: Record<string, string> = {},
): Promise<Receiver> {
  const env = {
    ...more,
    REGISTRY_APP_ID: APP_ID,
    WEBHOOK_SECRETS: SECRET,
    DATA_DIR: dataDir,
    PORT: '0',
    OPERATIONS_PORT: String(await findFreePort()),
  };
  const started = startProcess(['receive'], env);
  const ready = await started.waitForLine(line => line['msg'] === 'receiver started');
  const url = `http://127.0.0.1:${String(ready['port'])}`;
  return {
    ...started,
    dataDir,
    url,
    operationsUrl: `http://127.0.0.1:${env.OPERATIONS_PORT}`,
    post: async event => {
      const { body, headers } = signedPost(
        payloadOf({ event, installation: installationOf({ id: `of-${event}` }) }),
      );
      const all = { 'content-type': 'application/json', ...headers };
      return await fetch(`${url}/webhooks`, { method: 'POST', headers: all, body });
    },
  };
}

test('the receiver stores the installation id of each of the seven events', async () => {
  const receiver = await startReceiver();
  for (const event of WEBHOOK_EVENTS) expect(await receiver.post(event)).toMatchObject({ status: 202 });
  expect(
    await openTablesIn(receiver.dataDir).rows(
      'SELECT event, installation_id, verdict FROM deliveries ORDER BY id',
    ),
  ).toEqual(WEBHOOK_EVENTS.map(event => ({ event, installation_id: `of-${event}`, verdict: 'accepted' })));
});

test('on SIGTERM the receiver answers stored posts, closes the database cleanly and exits 0', async () => {
  const receiver = await startReceiver();
  const posts = Array.from({ length: 20 }, () =>
    receiver.post('installed').then(
      ({ status }) => status,
      () => 0,
    ),
  );
  await posts[0];
  receiver.child.kill('SIGTERM');
  const answered = (await Promise.all(posts)).filter(status => status === 202);
  expect(await receiver.ended).toBe(0);
  const counted = await openTablesIn(receiver.dataDir).rows(
    'SELECT sum(duplicates + 1) AS n FROM deliveries',
  );
  expect(counted).toEqual([{ n: answered.length }]);
  expect(statSync(join(receiver.dataDir, 'inbox.db-wal'), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
});

test('a second signal ends the receiver at once, even while a sender is slow', async () => {
  const receiver = await startReceiver();
  const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>(resolve => {
    socket.write(
      'POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
      () => resolve(),
    );
  });
  receiver.child.kill('SIGTERM');
  while ((await fetch(`${receiver.operationsUrl}/readyz`)).status !== 503) await new Promise(setImmediate);
  receiver.child.kill('SIGTERM');
  expect(await receiver.ended).toBe(143);
  socket.destroy();
});

test('T03 the receiver refuses to start without a secret with exit code 2, and names every wrong setting', async () => {
  const started = startProcess(['receive'], {
    WEBHOOK_SECRETS: 'short',
    DATA_DIR: createFolder(),
    PORT: '99999',
  });
  expect(await started.ended).toBe(2);
  for (const name of ['REGISTRY_APP_ID', 'WEBHOOK_SECRETS', 'PORT']) expect(started.output()).toContain(name);
  expect(started.output()).not.toContain('    at ');
});

test('T66 a reader that never ends does not block deliveries, and the metrics show the growing log', async () => {
  const receiver = await startReceiver();
  await receiver.post('installed');
  const letGo = holdReader(join(receiver.dataDir, 'inbox.db'), 'SELECT * FROM deliveries');
  onTestFinished(letGo);
  const before = await getLogSize(receiver);
  for (let n = 0; n < 200; n++) expect((await receiver.post('suspended')).status).toBe(202);
  expect(await getLogSize(receiver)).toBeGreaterThan(before);
  letGo();
  expect(
    await openTablesIn(receiver.dataDir).rows('SELECT sum(duplicates + 1) AS n FROM deliveries'),
  ).toEqual([{ n: 201 }]);
});

long.test('T18 80 senders that pipeline and never read do not exhaust a heap of 256 MB', async () => {
  const receiver = await startReceiver(undefined, { NODE_OPTIONS: '--max-old-space-size=256' });
  const port = Number(new URL(receiver.url).port);
  await sendPosts(port, 4000);
  const before = residentMegabytes(receiver);
  const cut = Promise.all(
    Array.from({ length: 80 }, () => pipelineUntilClosed(port, REPEATED_REQUESTS['the front page'])),
  );
  for (let n = 0; n < 20; n += 1) expect((await receiver.post('suspended')).status).toBe(202);
  await cut;
  expect((await receiver.post('unsuspended')).status).toBe(202);
  expect(residentMegabytes(receiver) - before).toBeLessThan(20);
});

/** Sends posts over several connections, so that the receiver has warmed up. */
async function sendPosts(port: number, posts: number): Promise<void> {
  const bytes = requestBytes(signedPost(payloadOf()));
  let next = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      const connection = openConnection(port);
      while (next++ < posts) expect(await connection.send(bytes)).toBe(202);
      connection.close();
    }),
  );
}

function residentMegabytes({ child }: Receiver): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

test('T19 a flood of unsigned posts causes at most four log lines, whatever the answers', async () => {
  const receiver = await startReceiver();
  const port = Number(new URL(receiver.url).port);
  const body = 'x'.repeat(65_000);
  const post = `POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const senders = await Promise.all(Array.from({ length: 24 }, () => openSocket(port)));
  const answers = senders.map(readUntilClosed);
  for (const sender of senders) sender.end(post.repeat(32));
  const statuses = (await Promise.all(answers)).join('').match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? [];
  expect(statuses).toHaveLength(24 * 32);
  for (const status of statuses) expect(['400', '503']).toContain(status);
  const { ended } = receiver;
  receiver.child.kill('SIGTERM');
  expect(await ended).toBe(0);
  const lines = receiver
    .output()
    .split('\n')
    .filter(line => line.includes('"level":"warn"'));
  const counts = lines.map(line => Number(/"rejected":(\d+)/.exec(line)?.[1]));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(24 * 32);
  expect(lines.length).toBeLessThanOrEqual(4);
  expect(receiver.output()).not.toContain('stack');
  expect(lines[0]).toContain('"sender":"127.0.0.1"');
});

test('T20 a delivery repeated 499 times is stored once, answered 202 each time and logged at most four times', async () => {
  const receiver = await startReceiver();
  await sendPosts(Number(new URL(receiver.url).port), 500);
  expect(
    await openTablesIn(receiver.dataDir).rows(
      'SELECT count(*) AS n, sum(duplicates) AS duplicates FROM deliveries',
    ),
  ).toEqual([{ n: 1, duplicates: 499 }]);
  expect(await (await fetch(`${receiver.operationsUrl}/metrics`)).text()).toContain(
    'carbon_mirror_duplicate_deliveries_total 499',
  );
  receiver.child.kill('SIGTERM');
  expect(await receiver.ended).toBe(0);
  const lines = receiver
    .output()
    .split('\n')
    .filter(line => line.includes('"delivery":1'));
  const counts = lines.map(line => Number(/"duplicates":(\d+)/.exec(line)?.[1] ?? 0));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(499);
  expect(lines.length).toBeLessThanOrEqual(4);
  expect(lines.at(-1)).toContain('"sender":"127.0.0.1"');
});

async function getLogSize(receiver: Receiver): Promise<number> {
  const text = await (await fetch(`${receiver.operationsUrl}/metrics`)).text();
  return Number(/carbon_mirror_database_wal_bytes\{database="inbox"\} (\d+)/.exec(text)?.[1]);
}

test('T70 only the owner can access files that the receiver writes', async () => {
  const receiver = await startReceiver();
  await receiver.post('installed');
  expect(statSync(receiver.dataDir).mode & 0o777).toBe(0o700);
  for (const name of ['inbox.db', 'inbox.db-wal', 'inbox.db-shm']) {
    expect(statSync(join(receiver.dataDir, name)).mode & 0o777, name).toBe(0o600);
  }
});

test('the receiver reports that it is ready, and counts deliveries in its metrics', async () => {
  const receiver = await startReceiver();
  await receiver.post('installed');
  expect((await fetch(`${receiver.operationsUrl}/livez`)).status).toBe(200);
  expect(await (await fetch(`${receiver.operationsUrl}/readyz`)).json()).toMatchObject({
    checks: { inbox: 'ok', disk: 'ok' },
  });
  expect(await (await fetch(`${receiver.operationsUrl}/metrics`)).text()).toContain(
    'carbon_mirror_deliveries_total{verdict="accepted",event="installed"} 1',
  );
});

test('the receiver uses the next free port if PORT is not set, and ends with exit code 2 if PORT is in use', async () => {
  const start = (more: Record<string, string>): StartedProcess =>
    startProcess(['receive'], {
      REGISTRY_APP_ID: APP_ID,
      WEBHOOK_SECRETS: SECRET,
      DATA_DIR: join(createFolder(), 'data'),
      OPERATIONS_PORT: '0',
      ...more,
    });
  const isReady = (line: Record<string, unknown>): boolean => line['msg'] === 'receiver started';
  const unnamed = await Promise.all([start({}), start({})].map(receiver => receiver.waitForLine(isReady)));
  const ports = unnamed.map(line => Number(line['port']));
  expect(new Set(ports).size).toBe(2);
  for (const port of ports) expect(port).toBeGreaterThanOrEqual(8080);

  const named = start({ PORT: String(ports[0]) });
  expect(await named.ended).toBe(2);
  expect(named.stderr()).toContain(`Port ${ports[0]} is in use by another program.`);
  expect(named.output()).not.toContain('    at ');
});

test('a process ends if its parent died before it was ready', async () => {
  const main = join(import.meta.dirname, '../../dist/main.js');
  const env = {
    REGISTRY_APP_ID: APP_ID,
    WEBHOOK_SECRETS: SECRET,
    DATA_DIR: join(createFolder(), 'data'),
    PORT: '0',
  };
  const child = fork(main, ['receive'], { env, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
