import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase, type Sqlite } from '../../../src/store/sqlite/open.js';
import { statement } from '../../../src/store/sqlite/statement.js';
import { makeFolder } from '../../support/folder.js';

let folder: string;
let db: Sqlite;

beforeEach(() => {
  folder = makeFolder('carbon-mirror-');
  db = openDatabase(join(folder, 'test.db'), { busyTimeoutMs: 0 });
  db.exec('CREATE TABLE t (name TEXT, amount INTEGER) STRICT');
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

test('a statement is prepared once, and its values are bound by name', () => {
  const insert = statement<{ name: string; amount: number }>(
    db,
    'INSERT INTO t (amount, name) VALUES (@amount, @name)',
  );
  expect(insert.run({ name: "O'Hara; DROP TABLE t", amount: 1 })).toBe(1);
  insert.run({ name: 'b', amount: 2 });
  const find = statement<{ name: string }, { amount: number }>(
    db,
    'SELECT amount FROM t WHERE name = @name OR @name = name',
  );
  expect(find.get({ name: "O'Hara; DROP TABLE t" })).toEqual({ amount: 1 });
  expect(find.get({ name: 'nobody' })).toBeUndefined();
  expect(find.all({ name: 'b' })).toEqual([{ amount: 2 }]);
});

test('a missing value is refused with its name', () => {
  const find = statement<Record<string, string>, { amount: number }>(
    db,
    'SELECT amount FROM t WHERE name = @name OR @name = name',
  );
  expect(() => find.get({ nome: 'b' })).toThrow('expected a value for the parameter "name", got undefined');
});
