import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEngine } from '../../src/store/open-engine.js';
import { long } from '../support/long.js';
import { readProcfileCommand, startSandboxProcess } from '../support/procfile.js';
import { isAlive, findFreePort, runProcess } from '../support/processes.js';

const READY = {
  web: (line: Record<string, unknown>) => line['msg'] === 'receiver started',
  worker: (line: Record<string, unknown>) => line['msg'] === 'worker started',
};

test('the Procfile starts the receiver and the worker', () => {
  expect(readProcfileCommand('web')).toEqual(['receive']);
  expect(readProcfileCommand('worker')).toEqual(['work']);
});

test('sandbox, receiver and worker together turn an installation into rows that SQL can query', async () => {
  const processes = await startSandboxProcess(['--seed', '5', '--organizations', '2', '--retirements', '40']);
  const web = processes.start('web');
  const worker = processes.start('worker');
  await Promise.all([web.waitForLine(READY.web), worker.waitForLine(READY.worker)]);
  await processes.installEverywhere();
  await processes.waitUntilFilled();
  const counted = await runProcess(['query', '--csv', 'select count(*) from retirements'], processes.env);
  expect(counted).toMatchObject({ exitCode: 0, stderr: '' });
  expect(counted.stdout.trim().split(/\r?\n/)[1]).toBe('40');
  for (const started of [web, worker]) {
    started.child.kill('SIGTERM');
    expect(await started.ended, started.output()).toBe(0);
  }
});

long.test(
  'T61 T63 two new workers finish a first sync whose worker was killed, and run each job once',
  async () => {
    const processes = await startSandboxProcess([
      '--seed=6',
      '--organizations=3',
      '--credits=60',
      '--retirements=360',
    ]);
    const [, ...others] = await processes.listOrganizationIds();
    for (const id of others) {
      await processes.callControl('POST /faults', {
        path: `/organizations/${id}/retirements`,
        kind: 'silence',
      });
    }
    const web = processes.start('web');
    await web.waitForLine(READY.web);
    const first = processes.start('worker', { OPERATIONS_PORT: '0' });
    await first.waitForLine(READY.worker);
    await processes.installEverywhere();
    const mirrored = async () => Number(await processes.value('SELECT count(*) FROM retirements'));
    await expect.poll(mirrored).toBeGreaterThan(0);
    first.child.kill('SIGKILL');
    await first.ended;
    const runningJobs = "SELECT id FROM jobs WHERE state = 'running'";
    expect(await mirrored()).toBeLessThan(360);
    expect(await processes.rows(runningJobs)).not.toEqual([]);
    await processes.change(
      "UPDATE jobs SET claimed_until = '2000-01-01T00:00:00.000Z' WHERE state = 'running'",
    );

    await processes.callControl('DELETE /faults');
    const pair = [processes.start('worker'), processes.start('worker', { OPERATIONS_PORT: '0' })];
    await processes.waitUntilFilled();
    await expect.poll(() => processes.rows(runningJobs)).toEqual([]);
    expect(await mirrored()).toBe(360);
    const engine = openEngine({ dataDir: processes.dataDir, diskReserveMb: null, database: null });
    expect(await engine.findConsistencyFaults(Date.now())).toEqual([]);
    const claims =
      "SELECT claim FROM jobs WHERE claim IS NOT NULL AND state = 'done' GROUP BY organization_id, claim HAVING count(*) > 1";
    expect(await processes.rows(claims)).toEqual([]);
    const ended = pair.flatMap(worker => endedJobs(worker.output()));
    expect(ended.length).toBeGreaterThan(0);
    expect(new Set(ended).size).toBe(ended.length);
  },
);

function endedJobs(output: string): string[] {
  return Array.from(output.matchAll(/"job":(\d+).*"msg":"job done"/g), match => match[1] ?? '');
}

const ROOT = join(import.meta.dirname, '../..');
const FOREMAN = join(ROOT, 'node_modules/foreman/nf.js');

/** Starts foreman, a runner of Procfiles from npm, and collects what it and its processes print. */
async function startForeman(env: Record<string, string>, port: string, programs: string) {
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const options = ['--procfile', 'Procfile', '--env', 'no.env', '--port', port];
  const runner = spawn(process.execPath, [FOREMAN, ...options, 'start', '--raw', programs], {
    cwd: ROOT,
    env: { ...env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [runner.stdout, runner.stderr]) {
    stream.setEncoding('utf8').on('data', (printed: string) => (output += printed));
  }
  const closed = once(runner, 'close');
  onTestFinished(async () => {
    runner.kill('SIGINT');
    await closed;
  });
  return { runner, gone: closed, output: () => output };
}

long.test(
  'two workers under foreman with the same OPERATIONS_PORT use different ports, and SIGINT stops all processes',
  async () => {
    const processes = await startSandboxProcess(['--seed=7', '--organizations=1', '--retirements=5']);
    // The next ports after the shared one are the workers', so the receiver's lies before it.
    const [receiving, shared] = [String(await findFreePort()), String(await findFreePort())];
    const env = { ...processes.env, OPERATIONS_PORT: shared };
    const pids = async (): Promise<number[]> =>
      (await processes.rows('SELECT pid FROM processes')).map(row => Number(Object(row).pid));
    onTestFinished(async () => {
      for (const pid of (await pids()).filter(isAlive)) process.kill(pid, 'SIGKILL');
    });
    const { runner, gone, output } = await startForeman(env, receiving, 'web=1,worker=2');
    const ports = (): string[] =>
      Array.from(output().matchAll(/"operations":(\d+)/g), ([, port]) => port ?? '');
    await expect.poll(ports).toHaveLength(3);
    expect(ports()).toContain(shared);
    expect(new Set(ports()).size).toBe(3);
    for (const port of ports()) {
      const { status } = await fetch(`http://127.0.0.1:${port}/livez`);
      expect({ port, status }).toEqual({ port, status: 200 });
    }
    expect((await pids()).map(isAlive)).toEqual([true, true, true]);

    runner.kill('SIGINT');
    await gone;
    await expect.poll(async () => (await pids()).filter(isAlive)).toEqual([]);
    expect(output().match(/"msg":"(receiver|worker) stopped"/g)).toHaveLength(3);
  },
);
