import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeCopy } from '../../../src/store/sqlite/snapshot.js';
import { openDatabase } from '../../../src/store/sqlite/open-database.js';
import { temporaryFolder } from '../../support/inbox.js';

const DIST = join(import.meta.dirname, '../../../dist/src/store/sqlite');
const COPIER = `
  const { openDatabase } = await import(${JSON.stringify(join(DIST, 'open-database.js'))});
  const { writeCopy } = await import(${JSON.stringify(join(DIST, 'snapshot.js'))});
  process.umask(0);
  const [file, copy] = process.argv.slice(1);
  const db = openDatabase(file, { busyTimeoutMs: 1000, readonly: true });
  writeCopy(db, copy);`;

function filled(): { folder: string; file: string } {
  const folder = temporaryFolder();
  const file = join(folder, 'mirror.db');
  const db = openDatabase(file, { busyTimeoutMs: 1000 });
  db.exec(`CREATE TABLE t (a); WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 20000)
    INSERT INTO t SELECT hex(randomblob(1000)) FROM n`);
  db.close();
  return { folder, file };
}

test('T73 a copy is accessible only to its owner while it is written and after kill -9, whatever the umask', async () => {
  const { folder, file } = filled();
  const name = 'copy.db';
  writeFileSync(join(folder, `${name}.unfinished`), 'of the user');
  const argv = ['--input-type=module', '-e', COPIER, file, join(folder, name)];
  const copier = spawn(process.execPath, argv);
  const parts = () =>
    readdirSync(folder).filter(each => each.startsWith(`${name}.`) && each.endsWith('.part'));
  await expect.poll(parts, { interval: 1 }).toHaveLength(1);
  copier.kill('SIGKILL');
  await once(copier, 'exit');
  for (const part of parts()) expect(statSync(join(folder, part)).mode & 0o777).toBe(0o600);
  expect(parts()).toHaveLength(1);
  expect(readdirSync(folder)).not.toContain(name);
  expect(readFileSync(join(folder, `${name}.unfinished`), 'utf8')).toBe('of the user');
});

test('a copy is complete and private, leaves no temporary file, and never overwrites a file', () => {
  const { folder, file } = filled();
  const db = openDatabase(file, { busyTimeoutMs: 1000, readonly: true });
  const copy = join(folder, 'copy.db');
  expect(writeCopy(db, copy)).toBe(true);
  expect(writeCopy(db, copy)).toBe(false);
  db.close();
  expect(() => writeCopy(db, join(folder, 'failed.db'))).toThrow('not open');
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'mirror.db', 'mirror.db-shm', 'mirror.db-wal']);
  const read = openDatabase(copy, { busyTimeoutMs: 1000, readonly: true });
  expect(read.prepare('SELECT count(*) FROM t').pluck().get()).toBe(20_000);
  read.close();
});
