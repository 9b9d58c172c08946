import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { APP_ID, SECRET } from '../support/receiver.js';
import { temporaryFolder } from '../support/inbox.js';
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
