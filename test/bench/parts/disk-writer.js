// A process that keeps the disk busy while the receiver is measured: it writes mirror.db as fast as it can, 200 rows in each flushed
// transaction.
import { join } from 'node:path';
import { Database } from '../../../dist/src/store/sqlite/driver.js';

const db = new Database(join(process.argv[2] ?? '', 'mirror.db'));
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, document TEXT NOT NULL) STRICT');
const insert = db.prepare('INSERT OR REPLACE INTO rows (id, document) VALUES (?, ?)');
const document = 'x'.repeat(600);
process.stdout.write('writing\n');
for (let page = 0; ; page += 1) {
  db.exec('BEGIN IMMEDIATE');
  for (let row = 0; row < 200; row += 1) insert.run((page * 200 + row) % 200_000, document);
  db.exec('COMMIT');
}
