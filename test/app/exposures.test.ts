import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/inbox.js';
import { findFreePort, startProcess } from '../support/processes.js';
import { createPrivateKey } from '../support/sandbox.js';

const SECRET = 'a webhook secret that nobody knows';
/** No registry listens at this address. */
const REGISTRY = { REGISTRY_BASE_URL: 'http://127.0.0.1:9', REGISTRY_APP_ID: 'app' };

/** Starts a process and returns its warnings about access by others, once it is ready. */
async function readWarnings(argv: readonly string[], env: Record<string, string>, isReady: string) {
  const started = startProcess(argv, { PORT: '0', SYNC_SCHEDULE: '0 0 1 1 *', ...env });
  await started.waitForLine(line => line['msg'] === isReady);
  const lines = started.output().split('\n');
  return lines.filter(line => /to other users|OPERATIONS_HOST|Warning/.test(line));
}

function createFiles(mode: number) {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
    return join(folder, name);
  };
  const key = write('key.pem', createPrivateKey());
  const secrets = write('secrets', SECRET);
  const settings = write('settings.env', `WEBHOOK_SECRETS="${SECRET}"\n`);
  const harmless = write('harmless.env', 'LOG_LEVEL=info\n');
  chmodSync(dataDir, mode === 0o600 ? 0o700 : 0o777);
  return { dataDir, key, secrets, settings, harmless };
}

test('T70 a process warns at the start of each folder, file and operations listener that is open to others', async () => {
  const { dataDir, key, secrets, settings, harmless } = createFiles(0o644);
  const env = { ...REGISTRY, DATA_DIR: dataDir, OPERATIONS_PORT: String(await findFreePort()) };
  const receive = await readWarnings(
    ['receive', '--env-file', harmless],
    { ...env, WEBHOOK_SECRETS_FILE: secrets, OPERATIONS_HOST: '0.0.0.0' },
    'receiver started',
  );
  expect(receive).toEqual([
    expect.stringMatching(/"todo":"chmod 700 .*DATA_DIR is accessible to other users \(mode 777\)/),
    expect.stringContaining('the file of WEBHOOK_SECRETS_FILE is accessible to other users (mode 644)'),
    expect.stringContaining('OPERATIONS_HOST is 0.0.0.0: other machines can read livez, readyz and metrics'),
  ]);
  chmodSync(dataDir, 0o750);
  const work = await readWarnings(
    ['work', '--env-file', settings],
    { ...env, REGISTRY_PRIVATE_KEY_FILE: key },
    'worker started',
  );
  expect(work).toEqual([
    expect.stringContaining('DATA_DIR is accessible to other users (mode 750)'),
    expect.stringContaining('the file of REGISTRY_PRIVATE_KEY_FILE is accessible to other users (mode 644)'),
    expect.stringContaining('the file of --env-file is accessible to other users (mode 644)'),
  ]);
  const up = await readWarnings(
    ['up', '--env-file', settings],
    { ...env, DATA_DIR: join(dataDir, 'new'), REGISTRY_PRIVATE_KEY_FILE: key },
    'worker started',
  );
  expect(up.filter(line => line.startsWith('Warning: the file of --env-file'))).toHaveLength(1);
  for (const line of [...receive, ...work, ...up]) expect(line).not.toContain(SECRET);
});

test('T70 a process does not warn if only the owner has access', async () => {
  const { dataDir, key, settings } = createFiles(0o600);
  const env = { ...REGISTRY, DATA_DIR: dataDir, OPERATIONS_HOST: '127.0.0.2' };
  const argv = ['up', '--env-file', settings];
  const ports = { OPERATIONS_PORT: String(await findFreePort()) };
  expect(
    await readWarnings(argv, { ...env, ...ports, REGISTRY_PRIVATE_KEY_FILE: key }, 'worker started'),
  ).toEqual([]);
});
