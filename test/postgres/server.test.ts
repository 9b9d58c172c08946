import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from './server.js';

/** Starts a server as a run of tests does, and says where it is. */
const RUN = `
  import { startServer } from ${JSON.stringify(join(import.meta.dirname, 'server.js'))};
  const { server } = await startServer(['fsync=off']);
  console.log(JSON.stringify(server));
`;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a killed test run leaves no server and no folder behind', async () => {
  const run = spawn(process.execPath, ['--input-type=module', '--eval', RUN], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(run.stdout), 'line');
  const { host, pid } = JSON.parse(String(line));
  const folder = dirname(host);
  expect([isAlive(pid), existsSync(folder)]).toEqual([true, true]);
  run.kill('SIGKILL');
  await expect.poll(() => [isAlive(pid), existsSync(folder)]).toEqual([false, false]);
});

test('a killed server is started again with its data, at the same port', async () => {
  const { server, kill, start, stop } = await startServer(['fsync=off']);
  onTestFinished(stop);
  await kill();
  expect('pid' in server && isAlive(server.pid)).toBe(false);
  const again = await start();
  expect(again).toMatchObject('host' in server ? { host: server.host, port: server.port } : {});
  expect('pid' in again && isAlive(again.pid)).toBe(true);
});
