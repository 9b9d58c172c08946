import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';

const WRITER = join(import.meta.dirname, '../support/killed-writer.js');
const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const READING = [
  ['status'],
  ['available'],
  ['query', 'select 1'],
  ['installations', 'list'],
  ['retirements', 'list'],
  ['retirements', 'show', 'r-1'],
  ['certificates', 'list'],
  ['deliveries', 'list'],
  ['jobs', 'list'],
  ['verify'],
  ['migrate'],
] as const;

/** Creates what a killed worker leaves: a mirror, and beside it a write-ahead log with the last rows. */
function createKilledMirror(changed: number) {
  const folder = temporaryFolder();
  spawnSync(process.execPath, [WRITER, folder, String(changed)]);
  const file = join(folder, 'mirror.db');
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  return { folder, file, run: (...argv: string[]) => runCommand(argv, { env: { DATA_DIR: folder } }) };
}

const count = async ({ run }: ReturnType<typeof createKilledMirror>) =>
  JSON.parse((await run('query', '--json', 'select count(*) as n from retirements')).stdout);

describe.each([
  ['snapshot', 500],
  ['backup', 500],
  ['late', 1000],
])('%s.db copied over the log of a killed worker', (copy, rows) => {
  test.each([1, 2000])(
    'is refused by every command and stays unchanged (%i rows in the log)',
    async changed => {
      const killed = createKilledMirror(changed);
      const { folder, file, run } = killed;
      expect(await count(killed)).toEqual([{ n: 1000 + changed }]);
      copyFileSync(join(folder, `${copy}.db`), file);
      for (const argv of READING) {
        const { exitCode, stdout, stderr } = await run(...argv);
        expect({ argv, exitCode, stdout }).toEqual({ argv, exitCode: 1, stdout: '' });
        expect(stderr).toContain('is not the file that the log beside it');
        expect(stderr).not.toMatch(/\n\s+at /);
      }
      const doctor = await run('doctor', '--json');
      expect(doctor).toMatchObject({ exitCode: 3 });
      expect(doctor.stdout).toContain('is not the file that the log beside it');
      expect(readFileSync(file).equals(readFileSync(join(folder, `${copy}.db`)))).toBe(true);
      for (const name of [`${file}-wal`, `${file}-shm`]) rmSync(name);
      expect(await run('status')).toMatchObject({ exitCode: 0 });
      expect(await count(killed)).toEqual([{ n: rows }]);
    },
  );
});

test.each(['inbox.db', 'mirror.db'])(
  'a foreign journal beside %s is applied to no file and refused by every command',
  async name => {
    const { folder, run } = createKilledMirror(1);
    await run('status');
    const journal = join(folder, `${name}-journal`);
    writeFileSync(journal, 'pages of another file');
    for (const argv of [...READING, ['migrate']]) {
      const { exitCode, stdout, stderr } = await run(...argv);
      expect({ argv, exitCode, stdout }).toEqual({ argv, exitCode: 1, stdout: '' });
      expect(stderr).toContain(`${name}-journal is not of this program`);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    const doctor = await run('doctor', '--json');
    expect(doctor).toMatchObject({ exitCode: 3 });
    expect(doctor.stdout).toContain(`${name}-journal is not of this program`);
    expect(readFileSync(journal, 'utf8')).toBe('pages of another file');
    rmSync(journal);
    expect(await run('status')).toMatchObject({ exitCode: 0 });
  },
);

test('worker and receiver refuse to start on a copy beside the log of another file, with exit code 1', async () => {
  const { folder, file } = createKilledMirror(100);
  copyFileSync(join(folder, 'backup.db'), file);
  const env = {
    DATA_DIR: folder,
    REGISTRY_BASE_URL: 'http://127.0.0.1:9',
    REGISTRY_APP_ID: 'app-1',
    REGISTRY_PRIVATE_KEY: KEY,
    WEBHOOK_SECRETS: 'a webhook secret of the restored one',
    PORT: '0',
    OPERATIONS_PORT: '0',
  };
  const work = await runCommand(['work'], { env });
  expect(work.exitCode).toBe(1);
  expect(work.stderr).toContain(`remove ${file}-wal, ${file}-shm and ${file}-journal`);
  expect(readFileSync(file).equals(readFileSync(join(folder, 'backup.db')))).toBe(true);
  for (const name of ['', '-wal', '-shm']) renameSync(`${file}${name}`, join(folder, `inbox.db${name}`));
  const receive = await runCommand(['receive'], { env });
  expect(receive.exitCode).toBe(1);
  expect(receive.stderr).toContain(`remove ${folder}/inbox.db-wal`);
});

test.each([
  ['cut short', (file: string) => truncateSync(file, statSync(file).size / 2)],
  ['no database at all', (file: string) => copyFileSync(WRITER, file)],
])('a file that is %s is reported as damaged by every command with exit code 1', async (_, damage) => {
  const { file, run } = createKilledMirror(1);
  for (const name of [`${file}-wal`, `${file}-shm`]) rmSync(name);
  damage(file);
  for (const argv of READING) {
    const { exitCode, stdout, stderr } = await run(...argv);
    expect({ argv, exitCode, stdout }).toEqual({ argv, exitCode: 1, stdout: '' });
    expect(stderr).toContain(`${file} is damaged`);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  expect(existsSync(file)).toBe(true);
});
