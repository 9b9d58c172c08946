import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  assertMigrated,
  migrate,
  migrateFile,
  readSchemaVersion,
} from '../../../src/store/sqlite/migrate.js';
import { listMigrations } from '../../../src/store/migrations.js';
import { openDatabase, type Sqlite } from '../../../src/store/sqlite/open-database.js';
import { makeFolder } from '../../support/folder.js';

const NOW = '2026-01-02T03:04:05.678Z';
const SHAPE = "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name <> 'schema_migrations' ORDER BY name";
const DIST = new URL('../../../dist/src/store/sqlite/', import.meta.url);

let folder: string;
let file: string;

beforeEach(() => {
  folder = makeFolder('carbon-mirror-');
  file = join(folder, 'test.db');
});

afterEach(() => rmSync(folder, { recursive: true }));

const open = (): Sqlite => openDatabase(file, { busyTimeoutMs: 5_000 });
const step = (version: number, sql: string) => ({ version, name: `000${version}-step.sql`, sql });
const TWO = [step(1, 'CREATE TABLE a (x)'), step(2, 'CREATE TABLE b (x); INSERT INTO b VALUES (1)')];

function tables(db: Sqlite): unknown[] {
  return db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();
}

test('migrations are applied and recorded once, in order', () => {
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

test('T65 a migration that fails halfway leaves the previous schema', () => {
  const db = open();
  const broken = [...TWO.slice(0, 1), step(2, 'CREATE TABLE b (x); CREATE TABLE c (; ')];
  expect(() => migrate(db, 'inbox', NOW, broken)).toThrow('syntax error');
  expect(tables(db)).toEqual(['a', 'schema_migrations']);
  expect(readSchemaVersion(db)).toBe(1);
  expect(migrate(db, 'inbox', NOW, TWO)).toEqual(['0002-step.sql']);
  db.close();
});

test('T65 writers and readers refuse a schema newer than the program, and say what to do', () => {
  const db = open();
  migrate(db, 'inbox', NOW);
  const before = tables(db);
  db.pragma('user_version = 999');
  const words = `${file} has version 999, but this program knows only`;
  expect(() => migrate(db, 'inbox', NOW)).toThrow(words);
  expect(() => assertMigrated(db, 'inbox')).toThrow(words);
  expect(tables(db)).toEqual(before);
  db.close();
});

test.each([
  ['of more files', 'ALTER TABLE schema_migrations DROP COLUMN digest; PRAGMA user_version = 17'],
  ['of as many', 'ALTER TABLE schema_migrations DROP COLUMN digest'],
  ['of another text', "UPDATE schema_migrations SET digest = ''"],
])('writers and readers refuse an earlier schema in one sentence: %s', (_what, as) => {
  const db = open();
  migrate(db, 'inbox', NOW);
  db.exec(as);
  const before = shape(db);
  const refusal = expect.objectContaining({
    code: 'earlier',
    message: `${file} was made by an earlier carbon-mirror that was never released: move the folder it is in away and start again.`,
  });
  expect(() => migrate(db, 'inbox', NOW)).toThrow(refusal);
  expect(() => assertMigrated(db, 'inbox')).toThrow(refusal);
  expect(shape(db)).toBe(before);
  db.close();
});

test('a reader of an older schema is told to migrate', () => {
  const db = open();
  expect(() => assertMigrated(db, 'inbox')).toThrow('run "carbon-mirror migrate" first');
  db.close();
});

test('the shipped migrations of both databases can be read and applied', () => {
  for (const database of ['inbox', 'mirror'] as const) {
    const db = openDatabase(join(folder, `${database}.db`), { busyTimeoutMs: 5_000 });
    expect(migrate(db, database, NOW).length).toBeGreaterThan(0);
    assertMigrated(db, database);
    db.close();
  }
});

function pageBytes(name: string): unknown {
  const db = openDatabase(join(folder, name), { busyTimeoutMs: 0, readonly: true });
  const bytes = db.pragma('page_size', { simple: true });
  db.close();
  return bytes;
}

test('a new mirror has pages of 8192 bytes, a new inbox of 4096, and an existing file keeps its page size', () => {
  const older = openDatabase(join(folder, 'older.db'), { busyTimeoutMs: 0 });
  migrate(older, 'mirror', NOW);
  older.close();
  migrateFile(join(folder, 'mirror.db'), 'mirror', NOW);
  migrateFile(join(folder, 'inbox.db'), 'inbox', NOW);
  expect(migrateFile(join(folder, 'older.db'), 'mirror', NOW)).toEqual([]);
  expect(['mirror.db', 'inbox.db', 'older.db'].map(pageBytes)).toEqual([8192, 4096, 4096]);
});

const MIGRATE = `
  const { migrateFile } = await import(process.argv[1]);
  process.stdout.write(String(migrateFile(process.argv[2], 'mirror', '${NOW}').length));
`;

function startMigrating(): ChildProcess {
  return spawn(
    process.execPath,
    ['--input-type=module', '-e', MIGRATE, '--', new URL('migrate.js', DIST).href, file],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
}

test('several processes may start at once, and each migration is applied by one of them', async () => {
  const processes = Array.from({ length: 4 }, startMigrating);
  const applied = processes.map(async child => {
    const [output] = await Promise.all([child.stdout?.setEncoding('utf8').toArray(), once(child, 'exit')]);
    expect(child.exitCode).toBe(0);
    return Number(output?.join(''));
  });
  const counts = await Promise.all(applied);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(listMigrations('sqlite', 'mirror').length);
});

function shape(db: Sqlite): string {
  return JSON.stringify(db.prepare(SHAPE).all());
}

test('T65 a migration killed at any moment leaves a complete schema version', async () => {
  const shapes = new Map<number, string>();
  const files = listMigrations('sqlite', 'mirror');
  for (let upTo = 0; upTo <= files.length; upTo++) {
    const db = openDatabase(join(folder, `reference-${upTo}.db`), { busyTimeoutMs: 0 });
    migrate(db, 'mirror', NOW, files.slice(0, upTo));
    shapes.set(upTo, shape(db));
    db.close();
  }
  for (let round = 0; round < 12; round++) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    const child = startMigrating();
    const gone = once(child, 'exit');
    await new Promise(resolve => setTimeout(resolve, 60 + round * 8));
    child.kill('SIGKILL');
    await gone;
    const db = open();
    const version = readSchemaVersion(db);
    const came = shape(db);
    expect(came).toBe(shapes.get(version));
    migrate(db, 'mirror', NOW);
    expect(shape(db)).toBe(shapes.get(files.length));
    db.close();
  }
});
