import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { demandSchema, migrate, readMigrations, schemaVersion } from '../../src/database/migrate.js';
import { openDatabase, type Sqlite } from '../../src/database/open.js';

const NOW = '2026-01-02T03:04:05.678Z';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-'));
  file = join(folder, 'test.db');
});

afterEach(() => rmSync(folder, { recursive: true }));

const open = (): Sqlite => openDatabase(file, { busyTimeoutMs: 5_000 });
const step = (version: number, sql: string) => ({ version, name: `000${version}-step.sql`, sql });
const TWO = [step(1, 'CREATE TABLE a (x)'), step(2, 'CREATE TABLE b (x); INSERT INTO b VALUES (1)')];

function tables(db: Sqlite): unknown[] {
  return db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();
}

test('files are applied in order, once, each with its record', () => {
  const db = open();
  expect(migrate(db, 'inbox', NOW, TWO)).toEqual(['0001-step.sql', '0002-step.sql']);
  expect(migrate(db, 'inbox', NOW, TWO)).toEqual([]);
  expect(tables(db)).toEqual(['a', 'b', 'schema_migrations']);
  expect(db.prepare('SELECT version, applied_at FROM schema_migrations').all()).toEqual([
    { version: 1, applied_at: NOW },
    { version: 2, applied_at: NOW },
  ]);
  db.close();
});

test('T65 a file that fails half-way leaves the schema before it', () => {
  const db = open();
  const broken = [...TWO.slice(0, 1), step(2, 'CREATE TABLE b (x); CREATE TABLE c (; ')];
  expect(() => migrate(db, 'inbox', NOW, broken)).toThrow('syntax error');
  expect(tables(db)).toEqual(['a', 'schema_migrations']);
  expect(schemaVersion(db)).toBe(1);
  expect(migrate(db, 'inbox', NOW, TWO)).toEqual(['0002-step.sql']);
  db.close();
});

test('T65 a newer schema than the program is refused with what to do, by writers and readers', () => {
  const db = open();
  db.pragma('user_version = 999');
  const words = 'inbox.db has schema 999, but this program knows only';
  expect(() => migrate(db, 'inbox', NOW)).toThrow(words);
  expect(() => demandSchema(db, 'inbox')).toThrow(words);
  expect(tables(db)).toEqual([]);
  db.close();
});

test('an older schema tells its reader to migrate', () => {
  const db = open();
  expect(() => demandSchema(db, 'inbox')).toThrow('run "carbon-mirror migrate" first');
  db.close();
});

test('a file whose number is missing or doubled is refused by its name', () => {
  const root = join(folder, 'migrations');
  mkdirSync(join(root, 'inbox'), { recursive: true });
  writeFileSync(join(root, 'inbox', '0002-late.sql'), '');
  expect(() => readMigrations('inbox', pathToFileURL(`${root}/`))).toThrow(
    '0002-late.sql: expected a name like 0001-',
  );
});
