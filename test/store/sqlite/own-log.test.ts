import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/open.js';
import { temporaryFolder } from '../../support/inbox.js';

const DIST = join(import.meta.dirname, '../../../dist/src/store/sqlite/open.js');
/** A writer whose log is checkpointed and restarted every few pages. */
const WRITER = `
  const { openDatabase, write } = await import(${JSON.stringify(DIST)});
  const db = openDatabase(process.argv[1], { busyTimeoutMs: 5000 });
  db.pragma('wal_autocheckpoint = 8');
  db.pragma('synchronous = OFF');
  db.exec('CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, text TEXT)');
  const insert = db.prepare('INSERT INTO t (text) VALUES (?)');
  const change = db.prepare("UPDATE t SET text = 'changed' WHERE id = ?");
  process.stdout.write('ready');
  for (let turn = 1; ; turn += 1) {
    write(db, () => (turn % 3 === 0 ? change.run(turn) : insert.run('x'.repeat(turn % 5000))));
    if (turn % 50 === 0) await new Promise(setImmediate);
  }`;

test('T61 a write-ahead log is recognized as that of its database, while it is written and after kill -9', async () => {
  const file = join(temporaryFolder(), 'test.db');
  let opened = 0;
  for (let round = 0; round < 5; round += 1) {
    const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, file]);
    await once(writer.stdout, 'data');
    for (let time = 0; time < 30; time += 1) {
      const reader = openDatabase(file, { busyTimeoutMs: 5000, readonly: true });
      opened += Number(reader.prepare('SELECT count(*) >= 0 FROM t').pluck().get());
      reader.close();
    }
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    const db = openDatabase(file, { busyTimeoutMs: 5000 });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
  }
  expect(opened).toBe(5 * 30);
});
