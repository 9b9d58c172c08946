import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readStoreSettings } from '../../src/app/config/read-settings.js';
import { parseTreeHead } from '../../src/evidence/checkpoint.js';
import { sealLog } from '../../src/evidence/seal.js';
import { openEngine } from '../../src/store/open-engine.js';
import { openLastSignedFile, createKeyFile, readKeyFile } from '../../src/evidence/key-file.js';
import { formatVerifierKey } from '../../src/evidence/signing-key.js';
import { EXIT } from '../../src/cli/exit.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { createMigratedDatabases } from '../support/migrated-databases.js';
import { MINUTE, openMirror } from '../support/mirror/open.js';
import { member, retirements } from '../support/mirror/rows.js';

function keyFile() {
  return join(temporaryFolder(), 'evidence.key');
}

test('T92 evidence init creates a private key file once and prints its public key in both formats', async () => {
  const file = keyFile();
  const env = { EVIDENCE_KEY_FILE: file };
  const outcome = await runCommand(['evidence', 'init', '--name', 'mirror.example/log'], { env });
  expect(outcome.exitCode).toBe(EXIT.ok);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const key = readKeyFile(file);
  expect(outcome.stdout).toBe(`${key.publicKey.toString('hex')}\n${formatVerifierKey(key)}\n`);
  const again = await runCommand(['evidence', 'init'], { env });
  expect(again).toMatchObject({ exitCode: EXIT.usage, stdout: '' });
  expect(readKeyFile(file).publicKey).toEqual(key.publicKey);
});

test('evidence init creates no key without EVIDENCE_KEY_FILE or with an invalid name', async () => {
  const file = keyFile();
  const none = await runCommand(['evidence', 'init']);
  expect(none).toMatchObject({ exitCode: EXIT.usage, stderr: expect.stringContaining('EVIDENCE_KEY_FILE') });
  for (const name of ['two words', 'a+b', '']) {
    const outcome = await runCommand(['evidence', 'init', '--name', name], {
      env: { EVIDENCE_KEY_FILE: file },
    });
    expect(outcome.exitCode, name).toBe(EXIT.usage);
  }
  const missing = join(file, '..', 'missing');
  const nowhere = await runCommand(['evidence', 'init'], {
    env: { EVIDENCE_KEY_FILE: join(missing, 'evidence.key') },
  });
  expect(nowhere).toMatchObject({
    exitCode: EXIT.usage,
    stderr: `The folder ${missing} does not exist. Create it first.\n`,
  });
  expect(existsSync(file)).toBe(false);
});

test('evidence checkpoint fails if nothing was sealed', async () => {
  const folder = temporaryFolder();
  createMigratedDatabases(folder);
  const outcome = await runCommand(['evidence', 'checkpoint'], {
    env: { DATA_DIR: folder, REGISTRY_APP_ID: 'a' },
  });
  expect(outcome).toMatchObject({
    exitCode: EXIT.notFound,
    stdout: '',
    stderr: expect.stringMatching(/evidence init.*work" with EVIDENCE_KEY_FILE/),
  });
  expect(existsSync(join(folder, 'evidence.db'))).toBe(false);
});

test('T95 purge and forget erase sealed rows, and verify and doctor report the state of the log', async () => {
  const folder = temporaryFolder();
  createMigratedDatabases(folder);
  const scene = await openMirror({ folder });
  await scene.read('members', [member('ada', 'ada@example.org'), member('bob', 'bob@example.org')]);
  await scene.read('retirements', retirements(2));
  const file = keyFile();
  const key = createKeyFile(file, 'mirror.example/log');
  const env = { DATA_DIR: folder, EVIDENCE_KEY_FILE: file, REGISTRY_APP_ID: 'a' };
  const evidence = async (...argv: string[]) => await runCommand(argv, { env, now: () => scene.clock.at });
  expect((await evidence('doctor')).stdout).toContain('nothing has been sealed');
  const outcome = await runCommand(['doctor'], { env: { ...env, EVIDENCE_KEY_FILE: '/gone' } });
  expect(outcome.stdout).toContain('EVIDENCE_KEY_FILE: "/gone" cannot be read (ENOENT)');

  const engine = openEngine(readStoreSettings(env));
  await engine.prepare(['evidence'], scene.clock.at, () => undefined);
  const port = await engine.openEvidence();
  if (port === null) throw new Error('expected a log, got none');
  onTestFinished(() => port.close());
  const sealing = {
    port,
    key: () => key,
    lastSigned: openLastSignedFile(file),
    now: () => scene.clock.at,
    randomBytes,
    holder: 'a',
  };
  await sealLog({ ...sealing, signal: new AbortController().signal });
  expect(parseTreeHead((await evidence('evidence', 'checkpoint')).stdout).size).toBe(
    (await port.readProgress()).size,
  );
  expect((await evidence('doctor')).stdout).toContain('leaves are sealed');
  const keyless = { env: { DATA_DIR: folder, REGISTRY_APP_ID: 'a' } };
  const { size } = await port.readProgress();
  const beforeForget = await evidence('verify', '--json');
  expect(JSON.parse(beforeForget.stdout)).toMatchObject({ sealed: size, changes_not_sealed: 0 });
  const unchecked = `${size} leaves of evidence were not checked: EVIDENCE_KEY_FILE is not set`;
  const passed = await runCommand(['verify', '--json'], keyless);
  expect(passed.stderr).toContain(`${unchecked}.`);
  expect(JSON.parse(passed.stdout)).toMatchObject({ sealed: null, leaves_not_checked: size });
  expect((await runCommand(['doctor'], keyless)).stdout).toContain(unchecked);

  scene.clock.at += MINUTE;
  expect((await evidence('forget', '--person', 'ada@example.org')).exitCode).toBe(EXIT.ok);
  expect(await port.listUnerasedLeaves({ resource: 'members' })).toHaveLength(1);
  const verified = JSON.parse((await evidence('verify', '--json')).stdout);
  expect(verified.faults.filter((fault: { check: string }) => fault.check === 'evidence')).toEqual([]);
  expect(verified.sealed).toBeGreaterThan(0);

  scene.clock.at += MINUTE;
  const purge = ['purge', '--organization', 'organization-1', '--confirm', 'organization-1', '--force'];
  expect((await evidence(...purge)).exitCode).toBe(EXIT.ok);
  expect(await port.listUnerasedLeaves({ organizationId: 'organization-1' })).toEqual([]);
  const after = JSON.parse((await evidence('verify', '--json')).stdout);
  expect(after.faults.filter((fault: { check: string }) => fault.check === 'evidence')).toEqual([]);

  rmSync(`${file}.last-signed`);
  writeFileSync(`${file}.last-signed`, `mirror.example/log\n99\n${'A'.repeat(43)}=\n`);
  const forged = await evidence('verify');
  expect(forged).toMatchObject({ exitCode: EXIT.checkFailed });
  expect(forged.stdout).toContain('checkpoint of 99 leaves');
});
