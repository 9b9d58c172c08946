import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { APP_ID, SECRET } from '../support/receiver.js';
import { temporaryFolder } from '../support/inbox.js';
import { freePort, startProcess } from '../support/processes.js';
import { createPrivateKey } from '../support/sandbox.js';

function settings() {
  return {
    REGISTRY_BASE_URL: 'http://127.0.0.1:9',
    REGISTRY_APP_ID: APP_ID,
    REGISTRY_PRIVATE_KEY: createPrivateKey(),
    WEBHOOK_SECRETS: SECRET,
    DATA_DIR: temporaryFolder(),
    PORT: '0',
    OPERATIONS_PORT: '0',
  };
}

test('on a dyno nothing that writes the databases starts: exit 2 and a sentence', async () => {
  for (const command of ['up', 'receive', 'work']) {
    const { exitCode, stderr } = await runCommand([command], { env: { ...settings(), DYNO: 'web.1' } });
    expect(exitCode, command).toBe(2);
    expect(stderr, command).toContain('what was answered 202');
    expect(stderr, command).not.toContain('    at ');
  }
});

test('the demo starts on a dyno too', async () => {
  const env = {
    DYNO: 'web.1',
    DATA_DIR: temporaryFolder(),
    PORT: String(await freePort()),
    SANDBOX_PORT: String(await freePort()),
    OPERATIONS_PORT: String(await freePort()),
  };
  const demo = startProcess(['up'], env);
  await demo.line(line => line['msg'] === 'receiving webhooks');
  await demo.line(line => line['msg'] === 'working');
  demo.child.kill('SIGTERM');
  expect(await demo.ended).toBe(0);
});
