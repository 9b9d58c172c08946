import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase, type Sqlite } from '../../../src/store/sqlite/open-database.js';
import { prepareSqlQuery } from '../../../src/store/sqlite/sql-query/prepare-sql-query.js';
import { makeFolder } from '../../support/folder.js';

let folder: string;
let db: Sqlite;

beforeEach(() => {
  folder = makeFolder('carbon-mirror-');
  const file = join(folder, 'test.db');
  const writer = openDatabase(file, { busyTimeoutMs: 0 });
  writer.exec('CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1), (9007199254740993)');
  writer.close();
  db = openDatabase(file, { busyTimeoutMs: 0, readonly: true });
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

test('a single reading statement runs and returns exact integers', () => {
  for (const sql of [
    'SELECT a FROM t',
    '-- a note\n /* and another */ select a from t',
    'WITH x AS (SELECT a FROM t) SELECT a FROM x',
    'SELECT a FROM t;',
  ]) {
    expect([...prepareSqlQuery(db, sql).iterate()], sql).toEqual([[1n], [9007199254740993n]]);
  }
  expect([...prepareSqlQuery(db, 'VALUES (1)').iterate()]).toEqual([[1n]]);
  expect([...prepareSqlQuery(db, 'EXPLAIN QUERY PLAN SELECT a FROM t').iterate()]).toHaveLength(1);
});

test('statements that write, attach, copy or set are refused', () => {
  for (const sql of [
    'INSERT INTO t VALUES (1)',
    'INSERT INTO t VALUES (1) RETURNING a',
    'WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x RETURNING a',
    'DELETE FROM t',
    'DROP TABLE t',
    "ATTACH DATABASE 'other.db' AS other",
    "VACUUM INTO 'copy.db'",
    'PRAGMA journal_mode',
    'PRAGMA writable_schema = 1',
    'BEGIN IMMEDIATE',
    'SELECT 1; DELETE FROM t',
    '/* SELECT */ DELETE FROM t',
    '',
    '-- nothing but a note',
  ]) {
    expect(() => prepareSqlQuery(db, sql), sql).toThrow(/expected|more than one statement/);
  }
});
