import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';

const WEB = ['--web', 'https://app.registry.example/'];
const run = (argv: readonly string[], baseUrl = 'https://api.registry.example') =>
  runCommand(['install-url', ...argv], { env: { REGISTRY_BASE_URL: baseUrl } });

test("install-url prints the app's installation page on the registry's website", async () => {
  const { exitCode, stdout } = await run(['my-app', ...WEB]);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: 'https://app.registry.example/apps/my-app/installations/new\n',
  });
});

test('install-url uses the URL of a sandbox and requires --web for a real registry', async () => {
  const { stdout } = await run(['my-app'], 'http://127.0.0.1:8090');
  expect(stdout).toBe('http://127.0.0.1:8090/apps/my-app/installations/new\n');
  const { exitCode, stderr } = await run(['my-app']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('For example: --web');
});

test.each([
  [['a/b', ...WEB], '<name-id>'],
  [['my-app', '--web', 'ftp://app.registry.example'], '--web'],
  [['my-app', '--web', 'https://me:pass@app.registry.example'], '--web'],
  [['my-app', '--web', 'javascript:x'], '--web'],
])('install-url refuses %j with exit code 2', async (argv, named) => {
  const { exitCode, stdout, stderr } = await run(argv);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(`${named}: expected`);
});
