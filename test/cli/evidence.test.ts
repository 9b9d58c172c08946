import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKeyFile } from '../../src/evidence/key-file.js';
import { verifierKey } from '../../src/evidence/note.js';
import { EXIT } from '../../src/cli/exit.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { layBoth } from '../support/migrated.js';

function keyFile() {
  return join(temporaryFolder(), 'evidence.key');
}

test('T92 a key is made once, for its owner alone, and its public halves are told', async () => {
  const file = keyFile();
  const env = { EVIDENCE_KEY_FILE: file };
  const made = await runCommand(['evidence', 'init', '--name', 'mirror.example/log'], { env });
  expect(made.exitCode).toBe(EXIT.ok);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const key = readKeyFile(file);
  expect(made.stdout).toBe(`${key.publicKey.toString('hex')}\n${verifierKey(key)}\n`);
  const again = await runCommand(['evidence', 'init'], { env });
  expect(again).toMatchObject({ exitCode: EXIT.usage, stdout: '' });
  expect(readKeyFile(file).publicKey).toEqual(key.publicKey);
});

test('without the setting, and by a name that no note can have, no key is made', async () => {
  const file = keyFile();
  const none = await runCommand(['evidence', 'init']);
  expect(none).toMatchObject({ exitCode: EXIT.usage, stderr: expect.stringContaining('EVIDENCE_KEY_FILE') });
  for (const name of ['two words', 'a+b', '']) {
    const outcome = await runCommand(['evidence', 'init', '--name', name], {
      env: { EVIDENCE_KEY_FILE: file },
    });
    expect(outcome.exitCode, name).toBe(EXIT.usage);
  }
  expect(existsSync(file)).toBe(false);
});

test('where nothing was ever sealed there is no checkpoint, and none is made up', async () => {
  const folder = temporaryFolder();
  layBoth(folder);
  const outcome = await runCommand(['evidence', 'checkpoint'], {
    env: { DATA_DIR: folder, REGISTRY_APP_ID: 'a' },
  });
  expect(outcome).toMatchObject({
    exitCode: EXIT.usage,
    stdout: '',
    stderr: expect.stringContaining('EVIDENCE_KEY_FILE'),
  });
  expect(existsSync(join(folder, 'evidence.db'))).toBe(false);
});
