import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { SETTINGS_TOOLS } from '../../src/cli/settings-tools.js';
import { readUpSettings } from '../../src/app/config/config.js';

const REST = {
  REGISTRY_BASE_URL: 'http://127.0.0.1:8090',
  REGISTRY_APP_ID: 'app',
  WEBHOOK_SECRETS: 'correct horse battery',
};

function keyOf(modulusLength: number, type: 'pkcs1' | 'pkcs8'): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength });
  return privateKey.export({ type, format: 'pem' }).toString();
}

test.each(['pkcs1', 'pkcs8'] as const)('a %s key is taken, with written-out line ends too', async type => {
  const REGISTRY_PRIVATE_KEY = keyOf(2048, type).replaceAll('\n', '\\n');
  const { work } = await readUpSettings({ ...REST, REGISTRY_PRIVATE_KEY }, SETTINGS_TOOLS);
  expect(work.appId).toBe('app');
});

test('a key that cannot sign is told beside the other faults, before anything starts', async () => {
  const env = { ...REST, REGISTRY_PRIVATE_KEY: keyOf(1024, 'pkcs8'), PORT: 'eighty' };
  await expect(readUpSettings(env, SETTINGS_TOOLS)).rejects.toThrow(
    /^2 settings are wrong:\n {2}REGISTRY_PRIVATE_KEY: .* 1024 bits .*\n {2}PORT: expected a whole number/,
  );
});
