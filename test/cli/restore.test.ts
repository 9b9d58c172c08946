import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStagingFolder } from '../../src/store/sqlite/backup-files.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { createMigratedDatabases } from '../support/migrated-databases.js';
import { openMirror } from '../support/mirror/open.js';
import { openTablesOfFile } from '../support/tables.js';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
/** Ends a command that hangs. */
const HANGS_MS = 60_000;

/** Creates a folder with a mirror, and a backup of it. */
async function prepare() {
  const dataDir = join(temporaryFolder(), 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  createMigratedDatabases(dataDir);
  const backup = join(temporaryFolder(), 'backup');
  const run = (...argv: string[]) => runCommand(argv, { env: { DATA_DIR: dataDir } });
  expect(await run('backup', backup)).toMatchObject({ exitCode: 0 });
  /** Runs a command in a process of its own, because a call that waits for a pipe blocks its process. */
  const runAlone = (folder: string, ...argv: string[]) => {
    const env = { PATH: process.env['PATH'], DATA_DIR: folder, NODE_ENV: 'production' };
    const options = { encoding: 'utf8', timeout: HANGS_MS, env } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...argv], options);
    return { status, output: stdout + stderr };
  };
  return { dataDir, backup, run, runAlone };
}

describe('restore', () => {
  test.each(['mirror.db', 'inbox.db', 'mirror.db-wal', 'certificates'])(
    'refuses a backup with a named pipe or folder instead of %s and changes nothing',
    async name => {
      const { dataDir, backup, runAlone } = await prepare();
      const path = join(backup, name);
      const makers = [() => execFileSync('mkfifo', [path]), () => mkdirSync(path)];
      for (const make of name === 'certificates' ? makers.slice(0, 1) : makers) {
        rmSync(path, { recursive: true, force: true });
        make();
        const { status, output } = runAlone(dataDir, 'restore', backup);
        expect(status, output).toBe(1);
        expect(output).toContain(`${path} is no f`);
        expect(output).not.toMatch(/\n\s+at /);
        expect(readdirSync(dataDir).toSorted()).toEqual(['inbox.db', 'mirror.db']);
      }
    },
  );

  test.each(['mirror.db', 'inbox.db'])(
    'replaces a pipe or folder at the place of %s, which every other command refuses',
    async name => {
      const { dataDir, backup, runAlone } = await prepare();
      const path = join(dataDir, name);
      for (const make of [() => execFileSync('mkfifo', [path]), () => mkdirSync(path)]) {
        rmSync(path, { recursive: true, force: true });
        make();
        for (const argv of [['status'], ['doctor'], ['query', 'select 1']]) {
          const { status, output } = runAlone(dataDir, ...argv);
          expect(status, output).toBe(argv[0] === 'doctor' ? 3 : 1);
          expect(output.replaceAll(/\s+/g, ' ')).toContain('is no file, but a folder, a pipe or a device');
          expect(output).not.toMatch(/\n\s+at /);
        }
        expect(runAlone(dataDir, 'restore', backup)).toMatchObject({ status: 0 });
        expect(runAlone(dataDir, 'status')).toMatchObject({ status: 0 });
      }
    },
  );

  test('removes the remains of a killed restore and refuses to run twice at once', async () => {
    const { dataDir, backup, run } = await prepare();
    const leftover = join(dataDir, 'restoring', 'files');
    mkdirSync(leftover, { recursive: true });
    writeFileSync(join(leftover, 'mirror.db'), 'someone@example.org');
    expect(await run('restore', backup)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(dataDir, 'restoring'))).toBe(false);
    const other = openStagingFolder(dataDir);
    mkdirSync(other.folder);
    const refused = await run('restore', backup);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain(`Another restore runs: it prepares its files in ${dataDir}/restoring.`);
    expect(existsSync(other.folder)).toBe(true);
    other.close();
    expect(await run('restore', backup)).toMatchObject({ exitCode: 0 });
  });

  test('refuses a backup with a changed schema', async () => {
    const { backup, run } = await prepare();
    const sql =
      'DROP VIEW available_credits; CREATE VIEW available_credits AS SELECT * FROM last_known_credits';
    await openTablesOfFile(join(backup, 'mirror.db')).change(sql);
    const { exitCode, stderr } = await run('restore', backup);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('mirror.db: the view available_credits was changed');
  });
});

test('T75 forget, purge and doctor name the older copies left by restore', async () => {
  const { dataDir, backup, run } = await prepare();
  expect(await run('restore', backup)).toMatchObject({ exitCode: 0 });
  const [replaced = ''] = readdirSync(dataDir).filter(name => name.startsWith('replaced-'));
  const copies = [replaced, 'restoring'].map(name => join(dataDir, name));
  mkdirSync(join(dataDir, 'restoring'));
  const forget = ['forget', '--person', 'someone@example.org'];
  const { stderr } = await run(...forget);
  for (const copy of copies) expect(stderr).toContain(`NOT touched: ${copy} holds an older copy`);
  const { older_copies: olderCopies } = JSON.parse((await run(...forget, '--json')).stdout);
  expect(olderCopies.toSorted()).toEqual(copies.toSorted());
  const doctor = JSON.parse((await run('doctor', '--json')).stdout);
  for (const copy of copies)
    expect(doctor).toContainEqual(
      expect.objectContaining({ check: 'copies', state: 'warn', found: expect.stringContaining(copy) }),
    );
  const { clock } = await openMirror({ folder: dataDir });
  const purge = ['purge', '--organization', 'organization-1', '--confirm', 'organization-1', '--force'];
  const purged = await runCommand(purge, { env: { DATA_DIR: dataDir }, now: () => clock.at });
  for (const copy of copies) expect(purged.stderr).toContain(`NOT touched: ${copy} holds an older copy`);
});
