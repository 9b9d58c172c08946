/**
 * A worker that dies and leaves a write-ahead log: it fills mirror.db in a folder, copies it, writes further rows, and kills
 * itself. The first argument is the folder, the second the number of rows written after the last checkpoint.
 */
import { join } from 'node:path';
import { migrateFile } from '../../dist/src/store/sqlite/migrate.js';
import { openDatabase, write } from '../../dist/src/store/sqlite/open.js';
import { writeCopy } from '../../dist/src/store/sqlite/copy.js';

const [folder = '', changed] = process.argv.slice(2);
const at = new Date().toISOString();
migrateFile(join(folder, 'inbox.db'), 'inbox', at);
migrateFile(join(folder, 'mirror.db'), 'mirror', at);
const db = openDatabase(join(folder, 'mirror.db'), { busyTimeoutMs: 1000 });
const insert =
  db.prepare(`INSERT INTO retirements (version, organization_id, id, valid_from, sync_id, document)
  VALUES (?, 'organization-1', ?, ?, 1, ?)`);
const state = db.prepare(`INSERT INTO resource_states (organization_id, resource, rows, as_of, outcome)
  VALUES ('organization-1', 'retirements', ?, ?, 'complete')
  ON CONFLICT DO UPDATE SET rows = excluded.rows, as_of = excluded.as_of`);

/**
 * @param {number} from
 * @param {number} rows
 */
function fill(from, rows) {
  write(db, () => {
    for (let row = from; row < from + rows; row += 1)
      insert.run(row, `r-${row}`, at, `{"id":"r-${row}","reason":"${'x'.repeat(500)}"}`);
    state.run(from + rows, new Date().toISOString());
  });
}

fill(0, 500);
writeCopy(db, join(folder, 'snapshot.db'));
await db.backup(join(folder, 'backup.db'));
fill(500, 500);
db.pragma('wal_checkpoint(TRUNCATE)');
writeCopy(db, join(folder, 'late.db'));
fill(1000, Number(changed));
process.kill(process.pid, 'SIGKILL');
