import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyDataFolder, assertNotOpen, replaceDataFiles } from '../../../src/store/sqlite/backup-files.js';
import { migrateFile } from '../../../src/store/sqlite/migrate.js';
import { openDatabase } from '../../../src/store/sqlite/open-database.js';
import { temporaryFolder } from '../../support/inbox.js';

const PDF = `r-1-${'0'.repeat(64)}.pdf`;

/** A folder with all that a mirror has. */
function filled(): string {
  const folder = join(temporaryFolder(), 'data');
  for (const database of ['inbox', 'evidence', 'mirror'] as const)
    migrateFile(join(folder, `${database}.db`), database, '2026-05-04T12:00:00.000Z');
  mkdirSync(join(folder, 'certificates'));
  writeFileSync(join(folder, 'certificates', PDF), '%PDF', { mode: 0o600 });
  writeFileSync(join(folder, 'certificates', 'notes.txt'), 'of the user');
  return folder;
}

test('a backup copies the inbox and the log first, then the mirror, which so contains all they refer to, and certificates last', () => {
  const to = join(temporaryFolder(), 'copy');
  copyDataFolder(filled(), to);
  const order = ['inbox.db', 'evidence.db', 'mirror.db', join('certificates', PDF)];
  const written = order.map(name => statSync(join(to, name), { bigint: true }).mtimeNs);
  expect(written).toEqual(written.toSorted((a, b) => Number(a - b)));
  expect(new Set(written).size).toBe(order.length);
  expect(() => statSync(join(to, 'certificates', 'notes.txt'))).toThrow('ENOENT');
  for (const name of order) expect(statSync(join(to, name)).mode & 0o777, name).toBe(0o600);
});

test('a database that another process has open is detected, even beside a damaged one', () => {
  const folder = filled();
  for (const name of ['inbox.db', 'evidence.db', 'mirror.db']) {
    const db = openDatabase(join(folder, name), { busyTimeoutMs: 0 });
    db.pragma('user_version');
    expect(() => assertNotOpen(folder), name).toThrow(`${join(folder, name)} is open in a process`);
    db.close();
    assertNotOpen(folder);
  }
  writeFileSync(join(folder, 'mirror.db'), 'no database at all');
  assertNotOpen(folder);
});

test('replaced files are moved aside with their logs, and none is left beside the new ones', () => {
  const [folder, by] = [filled(), filled()];
  const aside = join(folder, 'aside');
  writeFileSync(join(by, 'mirror.db'), 'the other');
  writeFileSync(join(folder, 'mirror.db-wal'), 'a log');
  replaceDataFiles(folder, by, aside);
  expect(readFileSync(join(folder, 'mirror.db'), 'utf8')).toBe('the other');
  expect(readFileSync(join(aside, 'mirror.db-wal'), 'utf8')).toBe('a log');
  expect(() => statSync(join(folder, 'mirror.db-wal'))).toThrow('ENOENT');
  expect(statSync(join(aside, 'certificates', PDF)).isFile()).toBe(true);
  expect(() => statSync(by)).toThrow('ENOENT');
});

test('a damaged copy is reported when it is written', () => {
  const folder = filled();
  const db = openDatabase(join(folder, 'evidence.db'), { busyTimeoutMs: 0 });
  db.unsafeMode().exec(`CREATE TABLE odd (a); INSERT INTO odd VALUES (NULL); PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = 'CREATE TABLE odd (a NOT NULL)' WHERE name = 'odd'`);
  db.close();
  const to = join(temporaryFolder(), 'copy');
  expect(() => copyDataFolder(folder, to)).toThrow(
    `${join(to, 'evidence.db')} is damaged: NULL value in odd.a.`,
  );
});
