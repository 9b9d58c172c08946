import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import { makeFolder } from '../support/folder.js';
import { temporaryFolder } from '../support/inbox.js';
import {
  isAlive,
  findFreePort,
  type FinishedProcess,
  runProcess,
  type StartedProcess,
  startProcess,
} from '../support/processes.js';
import { splitWords } from '../support/command-lines.js';
import { copyJournalAsKilled, createPrivateKey, startTestSandbox } from '../support/sandbox.js';
import { openTablesIn } from '../support/tables.js';
import { long } from '../support/long.js';

const ROOT = join(import.meta.dirname, '../..');
const COUNT = 'select count(*) from retirements';
const UNFINISHED = `select * from freshness where state <> 'fresh'
  union all select * from freshness where (select count(*) from certificates where state = 'pending') > 0`;

type World = Sandbox['registry']['store']['tables'];

interface Demo {
  readonly cwd: string;
  readonly env: Record<string, string>;
  start(): StartedProcess;
  run(...argv: string[]): Promise<FinishedProcess>;
  /** Reads the tables of the demo's registry from a copy of its journal. */
  readWorld(): Promise<World>;
}

async function createDemo(cwd = temporaryFolder()): Promise<Demo> {
  return createDemoIn(cwd, {
    PORT: String(await findFreePort()),
    SANDBOX_PORT: String(await findFreePort()),
    CONSOLE_PORT: String(await findFreePort()),
    API_PORT: String(await findFreePort()),
    OPERATIONS_PORT: '0',
    NO_COLOR: '1',
  });
}

function createDemoIn(cwd: string, env: Record<string, string>): Demo {
  return {
    cwd,
    env,
    start: () => startProcess(['up', '--demo'], env, cwd),
    run: (...argv) => runProcess(argv, env, cwd),
    readWorld: async () => {
      const folder = copyJournalAsKilled({ folder: join(cwd, 'data/demo/sandbox') });
      const { sandbox, stop } = await startTestSandbox({ folder });
      await stop();
      return sandbox.registry.store.tables;
    },
  };
}

function webhookUrlIn(world: World | undefined): string | null | undefined {
  return world?.apps.list().find(({ name }) => name === 'carbon-mirror demo')?.webhookUrl;
}

let existingDemo: Demo | undefined;

/** Copies a demo that is created once for all tests. The copy has the same ports. */
async function copyExistingDemo(): Promise<Demo> {
  existingDemo ??= await createAndStopDemo();
  return copyDemo(existingDemo, temporaryFolder());
}

function copyDemo(demo: Demo, cwd: string): Demo {
  cpSync(demo.cwd, cwd, { recursive: true });
  return createDemoIn(cwd, demo.env);
}

async function createAndStopDemo(): Promise<Demo> {
  const demo = await createDemo(makeFolder());
  const up = demo.start();
  await expect.poll(() => up.stderr()).toContain('Ready: ');
  up.child.kill('SIGINT');
  expect(await up.ended).toBe(0);
  await up.outputClosed;
  return demo;
}

afterAll(() => {
  if (existingDemo !== undefined) rmSync(existingDemo.cwd, { recursive: true });
});

async function rows(demo: Demo, sql: string): Promise<Record<string, unknown>[]> {
  const { exitCode, stdout, stderr } = await demo.run('query', '--json', sql);
  expect(exitCode, stderr).toBe(0);
  const answered: Record<string, unknown>[] = JSON.parse(stdout);
  return answered;
}

async function isFilled({ cwd }: Demo): Promise<boolean> {
  const tables = openTablesIn(join(cwd, 'data/demo'));
  const unstored = await tables.rows(UNFINISHED);
  return unstored.length === 0 && (await tables.rows('SELECT 1 FROM certificates')).length > 0;
}

test('up --demo creates a demo, continues it at the next start, and leaves no process behind', async () => {
  const demo = await createDemo();
  const first = demo.start();
  await expect.poll(() => existsSync(join(demo.cwd, 'data/demo/demo.env'))).toBe(true);
  expect((await demo.run('status')).stdout).toContain('The demo in data/demo is being created');
  await expect.poll(() => first.stderr()).toContain('This is a DEMO');
  const [creating, ...progress] = first.stderr().split('\n');
  expect(creating).toMatch(/^Creating the demo in data\/demo: .* since \d{4}-12-01 with a simulated clock/);
  expect(progress[0]).toMatch(/^ {2}\d{4}-12 \.{3}$/);
  expect(progress[1]).toMatch(/^ {2}\d{4}-01 \.{3}$/);
  expect(first.stderr()).toMatch(/Its history until \S+Z was played with a simulated clock/);
  await expect.poll(() => isFilled(demo)).toBe(true);

  const commands = () =>
    Array.from(first.stderr().matchAll(/^ {2}npx carbon-mirror (.+)$/gm), ([, line = '']) => line);
  await expect.poll(commands).toHaveLength(4);
  for (const line of commands())
    expect(await demo.run(...splitWords(line)), line).toMatchObject({ exitCode: 0 });

  const retirements = (await demo.readWorld()).retirements.list();
  const retirementCount = retirements.length;
  const unclaimed = retirements.filter(({ details: words }) => words === null).length;
  expect(retirementCount).toBeGreaterThanOrEqual(150);
  expect(unclaimed).toBeGreaterThan(0);
  const counted = await demo.run('query', COUNT);
  expect(counted.stdout).toMatch(new RegExp(`\\b${retirementCount}\\b`));
  expect(counted.stderr).toMatch(/^Demo: the data in data\/demo is made up\. .+\n$/);
  expect(
    await rows(demo, 'select state, count(*) as n from certificates group by state order by state'),
  ).toEqual([
    { state: 'stored', n: retirementCount - unclaimed },
    { state: 'unavailable', n: unclaimed },
  ]);
  expect(
    readdirSync(join(demo.cwd, 'data/demo/certificates')).filter(name => name.endsWith('.pdf')),
  ).toHaveLength(
    (await rows(demo, "select distinct sha256 from certificates_history where state = 'stored'")).length,
  );
  const status = await demo.run('status');
  expect(status.stdout).toContain('fresh');
  expect(status.stdout).not.toMatch(/never read|stale|read failed|[1-9]\d* failed|no access/);
  expect(status.stdout).toContain('The demo in data/demo of http://127.0.0.1:');
  expect(status.stdout).toContain(' A worker is running. ');
  expect(status.stdout).toMatch(/ Its history until \S+Z is simulated\. /);
  const newest = 'select max(received_at) as at from inbox.deliveries';
  const gap = `select julianday(simulated_until) - julianday((${newest})) as days from origin`;
  expect(Number((await rows(demo, gap))[0]?.['days'])).toBeLessThan(1);
  const doctor: Record<string, string>[] = JSON.parse((await demo.run('doctor', '--json')).stdout);
  expect(doctor.filter(({ check }) => check === 'drift')).toEqual([]);

  const signInNotice = 'Run "npx carbon-mirror console url" for a sign-in link.';
  await expect.poll(() => first.stderr()).toContain(signInNotice);
  const address = `Open http://127.0.0.1:${demo.env['CONSOLE_PORT'] ?? ''}`;
  await expect.poll(() => first.stderr().trimEnd().split('\n').at(-1)).toBe(address);
  expect(first.stderr()).not.toContain('key=');
  const now = await signIn((await demo.run('console', 'url')).stdout.trim());
  expect(now).toContain('available to sell now');
  expect(now).toMatch(/Its history until <time[^>]*>[^<]+<\/time> is simulated\./);

  expect(statSync(join(demo.cwd, 'data/demo/demo.env')).mode & 0o777).toBe(0o600);
  expect(statSync(join(demo.cwd, 'data/demo')).mode & 0o777).toBe(0o700);
  for (const file of readdirSync(join(demo.cwd, 'data/demo/sandbox'))) {
    expect(statSync(join(demo.cwd, 'data/demo/sandbox', file)).mode & 0o077, file).toBe(0);
  }

  expect(first.stderr()).not.toMatch(/^ {2}api /m);
  const token = (await demo.run('tokens', 'create', 'shop')).stdout.trim();
  first.child.kill('SIGINT');
  expect(await first.ended).toBe(0);
  await first.outputClosed;
  expect(first.output()).toContain('"msg":"receiver stopped"');
  expect(first.output()).toContain('"msg":"worker stopped"');
  await expectNoListeners(demo);

  const world = await demo.readWorld();
  const settings = readFileSync(join(demo.cwd, 'data/demo/demo.env'), 'utf8');
  const versions = 'select id, valid_from from retirements order by id';
  const before = await rows(demo, versions);
  const second = demo.start();
  await expect.poll(() => second.stderr()).toContain('This is a DEMO');
  expect(second.stderr()).not.toContain('Creating the demo');
  const [, api = ''] = /^ {2}api +(http\S+)$/m.exec(second.stderr()) ?? [];
  const answer = await fetch(`${api}/retirements`, { headers: { authorization: `Bearer ${token}` } });
  expect(await answer.json()).toMatchObject({ totals: { rows: retirementCount } });
  expect(readFileSync(join(demo.cwd, 'data/demo/demo.env'), 'utf8')).toBe(settings);
  const same = await demo.readWorld();
  expect(same.installations.list()).toEqual(world.installations.list());
  expect(same.apps.list().map(({ id }) => id)).toEqual(world.apps.list().map(({ id }) => id));
  expect(await rows(demo, versions)).toEqual(before);
  expect((await demo.run('up', '--demo')).stderr).toContain('The demo in data/demo is already running');
  const worker = await findPid(demo, 'work');
  process.kill(worker, 'SIGKILL');
  expect(await findPid(demo, 'work', worker)).not.toBe(worker);
  expect(second.stderr()).toContain('"carbon-mirror work" ended by SIGKILL. Restarting it in 1 s.');
  second.child.kill('SIGTERM');
  expect(await second.ended).toBe(0);
  await second.outputClosed;
  await expectNoListeners(demo);

  existingDemo ??= copyDemo(demo, makeFolder());
  const third = demo.start();
  await expect.poll(() => third.stderr()).toContain('This is a DEMO');
  third.child.kill('SIGKILL');
  expect(await third.ended).toBe('SIGKILL');
  await third.outputClosed;
  await expectNoListeners(demo);
  expect(await rows(demo, versions)).toEqual(before);
});

test('a demo simulates a history that spans a year end, and verify and balance confirm it', async () => {
  const demo = await copyExistingDemo();
  const tables = openTablesIn(join(demo.cwd, 'data/demo'));
  const [origin] = await tables.rows('SELECT created_at, simulated_until FROM origin');
  const [createdAt, until] = [String(origin?.['created_at']), String(origin?.['simulated_until'])];
  const year = createdAt.slice(0, 4);
  const yearEnd = `${year}-12-31`;
  expect(createdAt).toMatch(/-12-01T/);
  expect(Date.parse(until) - Date.parse(yearEnd)).toBeGreaterThan(89 * 86_400_000);
  const months = await tables.rows('SELECT DISTINCT substr(observed_at, 1, 7) AS month FROM changes');
  expect(months.length).toBeGreaterThanOrEqual(4);
  expect(await tables.rows('SELECT resource FROM drift WHERE resource IS NOT NULL')).not.toEqual([]);
  const restated = 'SELECT DISTINCT resource, year, change FROM restatements ORDER BY resource';
  expect(await tables.rows(restated)).toEqual(
    ['certificates', 'retirements'].map(resource => ({ resource, year, change: 'changed' })),
  );
  expect(await tables.rows("SELECT 1 FROM installations_history WHERE state = 'suspended'")).toHaveLength(1);
  expect(await tables.rows("SELECT 1 FROM reservations_now WHERE state_now = 'outstanding'")).toHaveLength(2);

  const readBeneficiaries = async (asOf: string) => {
    const { exitCode, stdout } = await demo.run(
      'retirements',
      'list',
      '--year',
      year,
      '--as-of',
      asOf,
      '--json',
    );
    expect(exitCode).toBe(0);
    const { rows: list }: { rows: { beneficiary: string }[] } = JSON.parse(stdout);
    return list.map(({ beneficiary }) => beneficiary);
  };
  expect(await readBeneficiaries(yearEnd)).toContain('Quillford Logistics GmbH');
  expect(await readBeneficiaries('now')).toContain('Quillford Freight GmbH');
  expect(await readBeneficiaries('now')).not.toContain('Quillford Logistics GmbH');

  const played = `SELECT count(*) AS syncs FROM syncs WHERE started_at < '${until}'`;
  const before = await tables.rows(played);

  const up = demo.start();
  await expect.poll(() => up.stderr()).toContain('Ready: ');
  expect(await tables.rows("SELECT DISTINCT state FROM freshness WHERE state <> 'not_offered'")).toEqual([
    { state: 'fresh' },
  ]);
  expect(await demo.run('verify', '--against-registry')).toMatchObject({ exitCode: 0 });
  expect(await demo.run('balance')).toMatchObject({ exitCode: 0 });
  expect(await tables.rows(played)).toEqual(before);
  up.child.kill('SIGTERM');
  expect(await up.ended).toBe(0);
  await up.outputClosed;
});

long.test('a demo that is killed while it simulates its history continues at the present', async () => {
  const demo = await createDemo();
  const first = demo.start();
  const tables = openTablesIn(join(demo.cwd, 'data/demo'));
  const syncs = () => tables.value<number>('SELECT count(*) FROM syncs').catch(() => 0);
  await expect.poll(syncs).toBeGreaterThan(0);
  first.child.kill('SIGKILL');
  await first.outputClosed;
  const second = demo.start();
  await expect.poll(() => second.stderr()).toContain('Ready: ');
  expect(await demo.run('verify', '--against-registry')).toMatchObject({ exitCode: 0 });
  second.child.kill('SIGTERM');
  await second.outputClosed;
});

/** Signs in with an address as a browser does, and returns the page. */
async function signIn(address: string): Promise<string> {
  const answer = await fetch(address, { redirect: 'manual' });
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const page = new URL(answer.headers.get('location') ?? '', address);
  return await (await fetch(page, { headers: { cookie } })).text();
}

async function expectNoListeners({ env }: Demo): Promise<void> {
  for (const name of ['PORT', 'SANDBOX_PORT', 'CONSOLE_PORT']) {
    await expect(fetch(`http://127.0.0.1:${env[name] ?? ''}/`), name).rejects.toThrow('fetch failed');
  }
}

describe('up with some settings but not all', () => {
  test('P15 names each missing setting, ends with exit code 2 and creates no demo', async () => {
    const cwd = temporaryFolder();
    const { exitCode, stderr } = await runProcess(['up'], { REGISTRY_HEADER_PREFIX: 'icr' }, cwd);
    expect(exitCode).toBe(2);
    for (const name of ['REGISTRY_BASE_URL', 'REGISTRY_APP_ID', 'REGISTRY_PRIVATE_KEY', 'WEBHOOK_SECRETS']) {
      expect(stderr).toContain(`${name}: expected`);
    }
    expect(stderr).not.toContain('    at ');
    expect(readdirSync(cwd)).toEqual([]);
  });

  long.test('names only the setting that is missing', async () => {
    const env = {
      REGISTRY_APP_ID: 'an-app',
      REGISTRY_PRIVATE_KEY: createPrivateKey(),
      WEBHOOK_SECRETS: 'a secret that is long enough',
    };
    const { exitCode, stderr } = await runProcess(['up'], env, temporaryFolder());
    expect(exitCode).toBe(2);
    expect(stderr.match(/: expected/g)).toHaveLength(1);
    expect(stderr).toContain('REGISTRY_BASE_URL: expected');
  });
});

describe('up ends with exit code 2, a sentence and no running process if a port is in use:', () => {
  test.each(['PORT', 'SANDBOX_PORT'])('%s', async name => {
    const demo = await copyExistingDemo();
    const stranger = createServer().listen(Number(demo.env[name]), '127.0.0.1');
    onTestFinished(() => void stranger.close());
    const up = demo.start();
    expect(await up.ended).toBe(2);
    await up.outputClosed;
    expect(up.stderr()).toContain(`Port ${demo.env[name] ?? ''} is in use by another program.`);
    expect(up.stderr()).not.toContain('    at ');
  });
});

long.test(
  'if the port of the console is in use, up says so and the other processes keep running',
  async () => {
    const demo = await copyExistingDemo();
    const port = Number(demo.env['CONSOLE_PORT']);
    const stranger = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void stranger.close());
    const up = demo.start();
    await expect.poll(() => up.stderr()).toContain('Ready: ');
    expect(up.stderr()).toContain(`Port ${port} is in use by another program.`);
    expect(up.stderr()).toContain(
      '"carbon-mirror console" ended with exit code 2. The other processes keep running.',
    );
    expect(up.stderr()).not.toContain('sign-in link');
    expect(up.stderr()).not.toContain('    at ');
    up.child.kill('SIGTERM');
    expect(await up.ended).toBe(0);
  },
);

interface LivingProcess {
  readonly role: string;
  readonly pid: number;
}

async function listLivingProcesses(demo: Demo): Promise<LivingProcess[]> {
  const tables = openTablesIn(join(demo.cwd, 'data/demo'));
  const all = await tables.rows<LivingProcess>('SELECT role, pid FROM processes ORDER BY id');
  return all.filter(({ pid }) => isAlive(pid));
}

async function findPid(demo: Demo, role: string, not = 0): Promise<number> {
  const find = async (): Promise<number> =>
    (await listLivingProcesses(demo)).find(each => each.role === role && each.pid !== not)?.pid ?? 0;
  await expect.poll(find).not.toBe(0);
  return find();
}

describe('a child process that ends', () => {
  long.test('is restarted at the same port after a growing backoff', async () => {
    const demo = await copyExistingDemo();
    const up = demo.start();
    await expect.poll(() => up.stderr()).toContain('This is a DEMO');
    for (const role of ['receive', 'work']) {
      const first = await findPid(demo, role);
      process.kill(first, 'SIGKILL');
      const second = await findPid(demo, role, first);
      process.kill(second, 'SIGKILL');
      await findPid(demo, role, second);
      for (const pauseS of [1, 2]) {
        const message = `"carbon-mirror ${role}" ended by SIGKILL. Restarting it in ${pauseS} s.`;
        await expect.poll(() => up.stderr()).toContain(message);
      }
    }
    const url = `http://127.0.0.1:${demo.env['PORT'] ?? ''}/webhooks`;
    await expect.poll(async () => (await fetch(url).catch(() => null))?.status).toBe(405);
    expect(up.stderr().match(/This is a DEMO/g)).toHaveLength(1);
    up.child.kill('SIGINT');
    expect(await up.ended).toBe(0);
    await up.outputClosed;
    await expectNoListeners(demo);
  });

  long.test(
    'is not restarted if that cannot help, and up ends with exit code 2 and no running process',
    async () => {
      const demo = await copyExistingDemo();
      const up = demo.start();
      await expect.poll(() => up.stderr()).toContain('This is a DEMO');
      process.kill(await findPid(demo, 'receive'), 'SIGKILL');
      await expect.poll(() => up.stderr()).toContain('Restarting it in 1 s.');
      const stranger = createServer().listen(Number(demo.env['PORT']), '127.0.0.1');
      onTestFinished(() => void stranger.close());
      expect(await up.ended).toBe(2);
      await up.outputClosed;
      expect(up.stderr()).toContain(`Port ${demo.env['PORT'] ?? ''} is in use by another program.`);
    },
  );
});

long.test('a command finds the empty mirror of a demo that is just starting', async () => {
  const demo = await createDemo();
  const up = demo.start();
  const settings = join(demo.cwd, 'data/demo/demo.env');
  await expect.poll(() => existsSync(settings), { interval: 1 }).toBe(true);
  expect(existsSync(join(demo.cwd, 'data/demo/mirror.db'))).toBe(true);
  const { exitCode, stderr } = await demo.run('status');
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  await expect.poll(() => up.stderr()).toContain('This is a DEMO');
});

/** Returns the addresses that a demo prints, by service. */
function parseAddresses(printed: string): Record<string, string> {
  const lines = printed.matchAll(/^ {2}(console|registry|webhooks) +(\S+)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name = '', address = '']) => [name, address]));
}

async function listenOnPorts(...ports: readonly string[]): Promise<void> {
  for (const port of ports) {
    const stranger = createServer((_, res) => res.end('somebody else')).listen(Number(port), '127.0.0.1');
    await once(stranger, 'listening');
    onTestFinished(() => void stranger.close());
  }
}

long.test(
  'without port settings a demo replaces each port that is in use by the next free one, prints it and keeps it',
  async () => {
    const demo = await copyExistingDemo();
    const { cwd, env } = demo;
    const unnamed = { OPERATIONS_PORT: '0', NO_COLOR: '1' };
    await listenOnPorts(...['PORT', 'SANDBOX_PORT', 'CONSOLE_PORT'].map(name => env[name] ?? ''));
    const first = startProcess(['up', '--demo'], unnamed, cwd);
    await expect.poll(() => first.stderr()).toContain('Ready: ');
    const { console = '', registry = '', webhooks = '' } = parseAddresses(first.stderr());
    expect((await fetch(`${registry}/_sandbox/status`)).status).toBe(200);
    expect((await fetch(webhooks)).status).toBe(405);
    expect(webhookUrlIn(await demo.readWorld())).toBe(webhooks);
    expect((await fetch(console)).status).toBe(401);
    const status = await runProcess(['status'], unnamed, cwd);
    expect(status.stdout).toContain(registry);
    const doctor = await runProcess(['doctor'], unnamed, cwd);
    expect(doctor, doctor.stdout).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(webhooks) });
    first.child.kill('SIGTERM');
    await first.outputClosed;

    const second = startProcess(['up', '--demo'], unnamed, cwd);
    await expect.poll(() => second.stderr()).toContain('Ready: ');
    expect(parseAddresses(second.stderr())).toEqual({ console, registry, webhooks });
  },
);

long.test(
  'the last line of the start is the address of the console, without a key if there is no terminal',
  async () => {
    const demo = await copyExistingDemo();
    const up = demo.start();
    await expect.poll(() => up.stderr()).toContain('\nOpen ');
    expect(up.stderr().trimEnd().split('\n').at(-1)).toBe(
      `Open http://127.0.0.1:${demo.env['CONSOLE_PORT'] ?? ''}`,
    );
    expect(up.stderr()).toMatch(/\nReady: /);
  },
);

long.test(
  'a running demo is not started a second time on any port, and the error says where it runs',
  async () => {
    const demo = await copyExistingDemo();
    const up = demo.start();
    await expect.poll(() => up.stderr()).toContain('Ready: ');
    const registry = `http://127.0.0.1:${demo.env['SANDBOX_PORT'] ?? ''}`;
    for (const env of [{}, { SANDBOX_PORT: String(await findFreePort()) }]) {
      const again = await runProcess(['up', '--demo'], env, demo.cwd);
      expect(again).toMatchObject({ exitCode: 2 });
      expect(again.stderr).toContain(
        `The demo in data/demo is already running, with its registry at ${registry}.`,
      );
    }
    expect((await demo.run('doctor')).exitCode).toBe(0);
  },
);

long.test('a port that is in use does not change the webhook URL in the registry of the demo', async () => {
  const demo = await copyExistingDemo();
  const before = webhookUrlIn(await demo.readWorld());
  expect(before).toBe(`http://127.0.0.1:${demo.env['PORT'] ?? ''}/webhooks`);
  const port = await findFreePort();
  const stranger = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void stranger.close());
  const second = startProcess(['up', '--demo'], { ...demo.env, PORT: String(port) }, demo.cwd);
  expect(await second.ended).toBe(2);
  await second.outputClosed;
  expect(webhookUrlIn(await demo.readWorld())).toBe(before);
});

long.test('SIGTERM to `npm start -- --demo` stops the demo in order and leaves no process', async () => {
  const demo = await copyExistingDemo();
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const env = { ...demo.env, DATA_DIR: join(demo.cwd, 'data'), HOME: demo.cwd, PATH: path };
  const npm = spawn('npm', ['start', '--', '--demo'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (printed: string) => (output += printed));
  }
  const closed = once(npm, 'close');
  onTestFinished(async () => {
    for (const { pid } of await listLivingProcesses(demo)) process.kill(pid, 'SIGTERM');
  });
  await expect.poll(() => output).toContain('This is a DEMO');
  expect((await listLivingProcesses(demo)).map(({ role }) => role).toSorted()).toEqual(['receive', 'work']);
  npm.kill('SIGTERM');
  await closed;
  expect(output).toContain('"msg":"receiver stopped"');
  expect(output).toContain('"msg":"worker stopped"');
  expect(await listLivingProcesses(demo)).toEqual([]);
  await expectNoListeners(demo);
});
