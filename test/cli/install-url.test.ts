import { expect, test } from 'vitest';
import { readState } from '../../src/webhook/install-state.js';
import { runCommand } from '../support/command.js';
import { OLD_SECRET, SECRET } from '../support/door.js';

const ENV = {
  REGISTRY_BASE_URL: 'https://api.registry.example',
  REGISTRY_APP_ID: 'app-1',
  WEBHOOK_SECRETS: `${SECRET},${OLD_SECRET}`,
};
const run = (argv: readonly string[], env: Record<string, string> = ENV) =>
  runCommand(['install-url', ...argv], { env });

test('the address has a state of the newest secret, good for as long as was asked', async () => {
  const words = ['my-app', '--web', 'https://app.registry.example/', '--hours', '2', '--json'];
  const { exitCode, stdout, stderr } = await run(words);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const told: { url: string; expires_at: string } = JSON.parse(stdout);
  const url = new URL(told.url);
  expect(`${url.origin}${url.pathname}`).toBe('https://app.registry.example/apps/my-app/installations/new');
  const state = url.searchParams.get('state') ?? '';
  const at = Date.parse(told.expires_at);
  expect(readState(state, { secrets: [SECRET], appId: 'app-1' }, at - 1)).toMatchObject({ expiresAt: at });
  expect(readState(state, { secrets: [OLD_SECRET], appId: 'app-1' }, at - 1)).toBeNull();
  expect(Math.abs(at - Date.now() - 2 * 3_600_000)).toBeLessThan(3_600_000);
});

test('two addresses never have one state, and carry where to come back to', async () => {
  const ask = () =>
    run([
      'my-app',
      '--web',
      'https://app.registry.example',
      '--redirect-uri',
      'https://m.example/installed?a=b',
    ]);
  const [one, other] = await Promise.all([ask(), ask()]);
  expect(one.stdout).not.toBe(other.stdout);
  expect(new URL(one.stdout.trim()).searchParams.get('redirectUri')).toBe('https://m.example/installed?a=b');
});

test('a sandbox has its pages where its calls are; of a real registry they must be said', async () => {
  const sandbox = { ...ENV, REGISTRY_BASE_URL: 'http://127.0.0.1:8090' };
  const { stdout } = await run(['my-app'], sandbox);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:8090\/apps\/my-app\//);
  const { exitCode, stderr } = await run(['my-app']);
  expect({ exitCode, stdout: '' }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain('Say it with --web');
});

test.each([
  [['a/b', '--web', 'https://app.registry.example'], '<name-id>'],
  [['my-app', '--web', 'ftp://app.registry.example'], '--web'],
  [['my-app', '--web', 'https://me:pass@app.registry.example'], '--web'],
  [['my-app', '--web', 'https://app.registry.example', '--hours', '721'], '--hours'],
  [['my-app', '--web', 'https://app.registry.example', '--redirect-uri', 'javascript:x'], '--redirect-uri'],
])('%j is refused in a sentence', async (words, named) => {
  const { exitCode, stdout, stderr } = await run(words);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(`${named}: expected`);
});
