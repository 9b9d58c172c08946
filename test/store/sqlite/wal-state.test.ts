import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createHeldTimer, readWalState } from '../../../src/store/sqlite/wal-state.js';
import { openDatabase, runInTransaction } from '../../../src/store/sqlite/open-database.js';
import { temporaryFolder } from '../../support/inbox.js';

const MIB = 1024 * 1024;

function open(file: string, readonly = false) {
  const db = openDatabase(file, { busyTimeoutMs: 1000, readonly });
  onTestFinished(() => void db.close());
  return db;
}

function createLog() {
  const file = join(temporaryFolder(), 'test.db');
  const writer = open(file);
  writer.exec('CREATE TABLE t (x BLOB)');
  const insert = writer.prepare('INSERT INTO t VALUES (zeroblob(4000))');
  return {
    file,
    writer,
    /** Inserts rows of one page each, several per transaction. */
    fill: (pages: number) => {
      for (let left = pages; left > 0; left -= 250) {
        runInTransaction(writer, () => {
          for (let page = 0; page < Math.min(left, 250); page += 1) insert.run();
        });
      }
    },
  };
}

test('T66 a write-ahead log that a reader holds is detected by a read-only connection', () => {
  const { file, writer, fill } = createLog();
  const reader = open(file, true);
  const watcher = open(file, true);
  fill(3000);
  expect(readWalState(watcher)).toMatchObject({ held: false });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM t').get();
  fill(5000);
  const { held, unmovedBytes } = readWalState(watcher);
  expect(held).toBe(true);
  expect(unmovedBytes).toBeGreaterThan(16 * MIB);
  reader.exec('COMMIT');
  fill(1);
  expect(readWalState(watcher)).toMatchObject({ held: false });
  expect(readWalState(writer)).toEqual(readWalState(watcher));
});

test('T66 a write-ahead log without a checkpoint does not count as held', () => {
  const { writer, fill } = createLog();
  writer.pragma('wal_autocheckpoint = 0');
  fill(500);
  const state = readWalState(writer);
  expect(state.held).toBe(false);
  expect(state.unmovedBytes).toBeGreaterThan(MIB);
  expect(readWalState(writer)).toEqual(state);
});

test('T66 a write-ahead log counts as held from its last checkpointed page on', () => {
  const measure = createHeldTimer();
  const held = (movedPages: number) => ({ movedPages, unmovedBytes: 20 * MIB, held: true });
  expect(measure({ ...held(10), held: false }, 1000)).toBe(0);
  expect(measure(held(10), 2000)).toBe(0);
  expect(measure(held(10), 9000)).toBe(7000);
  expect(measure(held(11), 10_000)).toBe(0);
  expect(measure(held(11), 10_500)).toBe(500);
  expect(measure({ ...held(11), held: false }, 11_000)).toBe(0);
  expect(measure(held(11), 12_000)).toBe(0);
});
