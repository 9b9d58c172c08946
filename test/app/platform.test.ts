import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { APP_ID, SECRET } from '../support/receiver.js';
import { temporaryFolder } from '../support/inbox.js';
import { createPrivateKey } from '../support/sandbox.js';

test('up, receive and work refuse to start on a dyno with exit code 2', async () => {
  const env = {
    REGISTRY_BASE_URL: 'http://127.0.0.1:9',
    REGISTRY_APP_ID: APP_ID,
    REGISTRY_PRIVATE_KEY: createPrivateKey(),
    WEBHOOK_SECRETS: SECRET,
    DATA_DIR: temporaryFolder(),
    DYNO: 'web.1',
  };
  for (const command of ['up', 'receive', 'work']) {
    const { exitCode, stderr } = await runCommand([command], { env });
    expect(exitCode, command).toBe(2);
    expect(stderr, command).toContain('the deliveries that were answered 202');
    expect(stderr, command).not.toContain('    at ');
  }
});
