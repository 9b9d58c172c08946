import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/sqlite/open-database.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/folder.js';
import { createMigratedDatabases } from '../support/migrated-databases.js';
import { fillAgedMirror } from '../support/mirror/aged.js';
import { startProcess } from '../support/processes.js';
import { until } from '../support/wait.js';

/** Fills a mirror so large that every command that reads all of it is busy for a while. */
async function fillMirror(pastVersions: number): Promise<string> {
  const folder = temporaryFolder();
  createMigratedDatabases(folder);
  const db = openDatabase(join(folder, 'mirror.db'), { busyTimeoutMs: 5000 });
  const change = async (sql: string) => void db.prepare(sql).run();
  await fillAgedMirror({ change }, 'sqlite', { organizations: 20, pastVersions });
  db.close();
  return folder;
}

/** Waits until a process has a file of this name open. */
async function waitForOpenFile(pid: number | undefined, name: string): Promise<void> {
  const folder = `/proc/${pid}/fd`;
  const isOpen = () => readdirSync(folder).some(fd => readLink(join(folder, fd)).includes(name));
  await until(isOpen, `the opening of ${name}`);
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // The file was closed meanwhile.
    return '';
  }
}

test.each([
  ['verify', 'SIGTERM'],
  ['verify', 'SIGINT'],
  ['balance', 'SIGINT'],
] as const)('%s ends at once at %s, while SQLite reads the whole mirror', async (command, signal) => {
  const folder = await fillMirror(100_000);
  const started = startProcess([command], { DATA_DIR: folder });
  await waitForOpenFile(started.child.pid, 'mirror.db');
  started.child.kill(signal);
  expect([await started.ended, started.output()]).toEqual([signal, '']);
});

test('an interrupted backup leaves no folder of the backup’s name, and says so the next time', async () => {
  const folder = await fillMirror(100_000);
  const backup = join(temporaryFolder(), 'backup');
  const { child, ended } = startProcess(['backup', backup], { DATA_DIR: folder });
  await waitForOpenFile(child.pid, join('backup.unfinished', 'mirror.db'));
  child.kill('SIGINT');
  expect([await ended, existsSync(backup)]).toEqual(['SIGINT', false]);
  const { exitCode, stderr } = await runCommand(['backup', backup], { env: { DATA_DIR: folder } });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('backup.unfinished already exists')]);
});

test('long commands show their progress in one line of a terminal, and nothing of it in a pipe', async () => {
  const folder = await fillMirror(1_000);
  const env = { DATA_DIR: folder };
  const seen = await runCommand(['verify'], { env, terminal: true });
  expect(seen.stderr).toContain('\r\u001B[KChecking the databases: 1 of ');
  expect(seen.stderr).toContain('\r\u001B[KComparing rows with their documents: ');
  expect(seen.stderr.split('\r\u001B[K').at(-1)).toContain('The mirror is consistent');
  const backup = join(temporaryFolder(), 'backup');
  const backedUp = await runCommand(['backup', backup], { env, terminal: true });
  expect(backedUp.stderr).toContain('\r\u001B[KChecking the copy: 1 of ');
  expect((await runCommand(['balance'], { env, terminal: true })).stderr).toContain(
    '\r\u001B[KAdding up credits',
  );
  expect((await runCommand(['verify'], { env })).stderr).not.toContain('\r');
});
