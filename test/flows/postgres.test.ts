import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open-postgres.js';
import { startServer } from '../postgres/server.js';
import { runCommand } from '../support/command.js';
import { payloadOf, installationOf, signedPost } from '../support/receiver.js';
import { temporaryFolder } from '../support/inbox.js';
import { type TestDatabase, openForTest, createDatabase } from '../support/postgres.js';
import { type StartedProcess, startProcess } from '../support/processes.js';
import { installApp, issueCredit, startTemporarySandbox } from '../support/sandbox.js';
import { long } from '../support/long.js';

const SECRET = 'a webhook secret of the flow';
const HOURLY_SCHEDULE = '0 * * * *';

/** Creates a registry and the settings of a mirror in PostgreSQL, whose DATA_DIR does not exist. */
async function createScene(database: TestDatabase) {
  const sandbox = await startTemporarySandbox();
  const { app, organization, installationId } = installApp(sandbox);
  const folder = join(temporaryFolder(), 'data');
  const env = {
    REGISTRY_BASE_URL: sandbox.url,
    REGISTRY_APP_ID: app.id,
    REGISTRY_PRIVATE_KEY: app.privateKey,
    WEBHOOK_SECRETS: SECRET,
    MIRROR_DATABASE_URL: database.url,
    DATA_DIR: folder,
    SYNC_SCHEDULE: HOURLY_SCHEDULE,
    PORT: '0',
    OPERATIONS_PORT: '0',
    DYNO: 'web.1',
  };
  const command = (...argv: string[]) => runCommand(argv, { env });
  const deliver = (receive: Receiver) => {
    const installation = installationOf({ id: installationId, appId: app.id });
    const { body, headers } = signedPost(payloadOf({ installation }), { secret: SECRET });
    return fetch(`${receive.url}/webhooks`, {
      method: 'POST',
      body,
      headers: { ...headers, 'content-type': 'application/json' },
    });
  };
  /** Queries as the owner. The command `query` would refuse, because the owner is a superuser here. */
  const count = async (sql: string) => {
    const options = { url: database.url, name: 'test', connections: 1, onFault: () => undefined };
    const postgres = openPostgres(options);
    try {
      return Number((await postgres.query<{ n: number }>(sql))[0]?.n);
    } finally {
      await postgres.close();
    }
  };
  const rows = () => count('SELECT count(*) AS n FROM mirror.warehouse_credits');
  return {
    env,
    folder,
    sandbox,
    organization,
    command,
    count,
    deliver,
    rows,
    issue: () => issueCredit(sandbox, organization.id),
    receive: () => startReceiver(env),
    work: () => startWorker(env),
  };
}

interface Receiver extends StartedProcess {
  readonly url: string;
}

async function startReceiver(env: Record<string, string>): Promise<Receiver> {
  const started = startProcess(['receive'], env);
  const { port } = await started.waitForLine(line => line['msg'] === 'receiver started');
  return { ...started, url: `http://127.0.0.1:${String(port)}` };
}

async function startWorker(env: Record<string, string>): Promise<StartedProcess> {
  const started = startProcess(['work'], env);
  await started.waitForLine(line => line['msg'] === 'worker started');
  return started;
}

/** Makes every lease expire now. */
async function expireLeases(database: TestDatabase): Promise<void> {
  await openForTest(database).query(
    "UPDATE inbox.jobs SET claimed_until = '2000-01-01T00:00:00Z' WHERE state = 'running'",
  );
}

test('on PostgreSQL webhooks become rows without any local file, even if every process is killed', async () => {
  const database = await createDatabase({ migrated: false });
  const mirror = await createScene(database);
  expect((await mirror.command('migrate')).exitCode).toBe(0);
  const receive = await mirror.receive();
  const work = await mirror.work();
  mirror.issue();
  expect((await mirror.deliver(receive)).status).toBe(202);
  await expect.poll(mirror.rows).toBe(1);

  work.child.kill('SIGKILL');
  receive.child.kill('SIGKILL');
  await Promise.all([work.ended, receive.ended]);
  await expireLeases(database);
  const next = await mirror.receive();
  mirror.issue();
  expect((await mirror.deliver(next)).status).toBe(202);
  await mirror.work();
  await expect.poll(mirror.rows).toBe(2);

  const verified = await mirror.command('verify');
  expect({ exitCode: verified.exitCode, said: verified.stderr }).toMatchObject({ exitCode: 0 });
  expect(existsSync(mirror.folder)).toBe(false);
});

/** Starts a proxy to the server that can be cut and reopened on the same port. */
async function startCuttableProxy({ url, name }: TestDatabase) {
  const socket = join(new URL(url).searchParams.get('host') ?? '', '.s.PGSQL.5432');
  const open = new Set<Socket>();
  const server = createServer(from => {
    const to = connect(socket);
    for (const end of [from, to]) {
      open.add(end);
      end.on('error', () => undefined);
      end.on('close', () => [from, to].forEach(each => each.destroy()));
    }
    from.pipe(to).pipe(from);
  });
  const listen = (port: number) =>
    new Promise<void>(resolve => {
      server.listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const cut = async () => {
    const closed = new Promise(resolve => {
      server.close(resolve);
    });
    for (const each of open) each.destroy();
    await closed;
  };
  onTestFinished(cut);
  return { url: `postgres://postgres@127.0.0.1:${port}/${name}`, cut, reopen: () => listen(port) };
}

test('during a database outage deliveries get 503 with Retry-After, and everything resumes afterwards', async () => {
  const database = await createDatabase();
  const proxy = await startCuttableProxy(database);
  const mirror = await createScene({ ...database, url: proxy.url });
  const receive = await mirror.receive();
  const work = await mirror.work();
  await proxy.cut();
  const refused = await mirror.deliver(receive);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  mirror.issue();
  await proxy.reopen();
  await expect.poll(async () => (await mirror.deliver(receive)).status).toBe(202);
  await expect.poll(mirror.rows).toBe(1);
  expect([receive.child.exitCode, work.child.exitCode]).toEqual([null, null]);
});

/** Starts a server of its own that flushes commits, so that it may be killed. */
async function startKillableServer() {
  const { server, kill, start, stop } = await startServer(['max_connections=20']);
  onTestFinished(stop);
  if ('missing' in server) throw new Error(server.missing);
  const name = 'postgres';
  const url = `postgres://postgres@localhost/${name}?host=${server.host}&port=${server.port}`;
  return { database: { name, url }, kill, start };
}

const readMemoryMb = ({ child }: StartedProcess): number =>
  Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;

/** The memory growth allowed to a receiver while the database is away. */
const MAX_GROWTH_MB = 60;
const GRACE_MS = 30_000;

long.test(
  'T61 a killed and restarted database loses no delivery that got 202, and the receiver buffers none meanwhile',
  async () => {
    const { database, kill, start } = await startKillableServer();
    const mirror = await createScene(database);
    expect((await mirror.command('migrate')).exitCode).toBe(0);
    const receive = await mirror.receive();
    const work = await mirror.work();
    for (let post = 0; post < 20; post += 1) expect((await mirror.deliver(receive)).status).toBe(202);
    // A job that runs when the server is killed waits for its lease.
    const listRunningJobs = () => mirror.command('jobs', 'list', '--state', 'running', '--json');
    await expect.poll(async () => JSON.parse((await listRunningJobs()).stdout).rows).toEqual([]);
    await kill();

    const before = readMemoryMb(receive);
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => mirror.deliver(receive)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      expect(answers.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true);
      await Promise.all(answers.map(answer => answer.arrayBuffer()));
    }
    expect(readMemoryMb(receive) - before).toBeLessThan(MAX_GROWTH_MB);

    await start();
    mirror.issue();
    await expect.poll(async () => (await mirror.deliver(receive)).status).toBe(202);
    await expect.poll(mirror.rows).toBe(1);
    expect(
      await mirror.count('SELECT sum(1 + duplicates) AS n FROM inbox.deliveries'),
    ).toBeGreaterThanOrEqual(21);
    expect([receive.child.exitCode, work.child.exitCode]).toEqual([null, null]);

    await kill();
    work.child.kill('SIGTERM');
    receive.child.kill('SIGTERM');
    const overtime = setTimeout(GRACE_MS, 'overtime', { ref: false });
    expect(await Promise.race([Promise.all([work.ended, receive.ended]), overtime])).not.toBe('overtime');
  },
);
