import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { getWalSize } from '../../../src/store/sqlite/measure-disk.js';
import { openDatabase, runInTransaction } from '../../../src/store/sqlite/open-database.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-'));
  file = join(folder, 'test.db');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('T62 every connection flushes commits to disk, on existing files too', () => {
  for (const time of ['first', 'second']) {
    const db = openDatabase(file, { busyTimeoutMs: 100 });
    expect(db.pragma('synchronous', { simple: true }), time).toBe(2);
    expect(db.pragma('journal_mode', { simple: true }), time).toBe('wal');
    expect(db.pragma('foreign_keys', { simple: true }), time).toBe(1);
    db.close();
  }
});

test('T70 a database and its log are readable by their owner only, even if they were not before', () => {
  const first = openDatabase(file, { busyTimeoutMs: 100 });
  first.exec('CREATE TABLE t (a)');
  for (const name of [file, `${file}-wal`, `${file}-shm`]) {
    expect(statSync(name).mode & 0o777, name).toBe(0o600);
    chmodSync(name, 0o644);
  }
  const second = openDatabase(file, { busyTimeoutMs: 100 });
  for (const name of [file, `${file}-wal`, `${file}-shm`])
    expect(statSync(name).mode & 0o777, name).toBe(0o600);
  second.close();
  first.close();
});

/** Without its lock a connection can lose its log to the sqlite3 shell, and what was committed with it. */
test.runIf(existsSync('/proc/locks'))(
  'opening a database again releases no lock of the process that has it open',
  () => {
    const locks = (): string[] =>
      readFileSync('/proc/locks', 'utf8')
        .split('\n')
        .filter(line => line.includes(`:${statSync(file).ino} `));
    const first = openDatabase(file, { busyTimeoutMs: 0 });
    first.exec('CREATE TABLE t (a)');
    expect(locks()).toHaveLength(1);
    const second = openDatabase(file, { busyTimeoutMs: 0 });
    second.close();
    expect(locks()).toHaveLength(1);
    first.close();
    expect(locks()).toEqual([]);
  },
);

test('a writing transaction takes its lock when it begins', () => {
  const one = openDatabase(file, { busyTimeoutMs: 0 });
  const two = openDatabase(file, { busyTimeoutMs: 0 });
  one.exec('CREATE TABLE t (a)');
  runInTransaction(one, () => {
    expect(() => runInTransaction(two, () => 'never')).toThrow('database is locked');
  });
  expect(runInTransaction(two, () => two.prepare('SELECT count(*) FROM t').pluck().get())).toBe(0);
  one.close();
  two.close();
});

test('a transaction that throws leaves nothing behind and the connection usable', () => {
  const db = openDatabase(file, { busyTimeoutMs: 0 });
  db.exec('CREATE TABLE t (a)');
  expect(() =>
    runInTransaction(db, () => {
      db.exec('INSERT INTO t VALUES (1)');
      throw new Error('on purpose');
    }),
  ).toThrow('on purpose');
  expect(db.prepare('SELECT count(*) FROM t').pluck().get()).toBe(0);
  runInTransaction(db, () => db.exec('INSERT INTO t VALUES (2)'));
  expect(db.prepare('SELECT a FROM t').pluck().all()).toEqual([2]);
  expect(getWalSize(file)).toBeGreaterThan(0);
  db.close();
});

test('a reader cannot write, and does not create a missing file', () => {
  expect(() => openDatabase(file, { busyTimeoutMs: 0, readonly: true })).toThrow();
  openDatabase(file, { busyTimeoutMs: 0 }).close();
  const reader = openDatabase(file, { busyTimeoutMs: 0, readonly: true });
  expect(() => reader.exec('CREATE TABLE t (a)')).toThrow('readonly');
  reader.close();
});
