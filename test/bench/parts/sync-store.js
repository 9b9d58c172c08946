// Where our side of the sync benchmark keeps things, and how what it wrote is looked at.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine } from '../../../dist/src/store/open.js';
import { openDatabase } from '../../../dist/src/store/sqlite/open.js';
import { during } from './engine.js';

/** `database` is the address of one that is empty; null for files. */
export async function openStore({ dataDir, database }, now) {
  const engine = openEngine({
    dataDir,
    diskReserveMb: 0,
    database: database && { url: database, pool: null },
  });
  await engine.migrate(now());
  const work = await engine.openWork({
    now,
    failed: error => {
      throw error;
    },
  });
  const look = database === null ? lookAtFile(join(dataDir, 'mirror.db')) : lookAtServer(database);
  const close = async () => {
    await work.close();
    look.close();
  };
  return { work, ...look, close };
}

function lookAtFile(file) {
  const db = openDatabase(file, { busyTimeoutMs: 5000 });
  const log = `${file}-wal`;
  const last = db.prepare(
    'SELECT * FROM syncs WHERE organization_id = ? AND resource = ? ORDER BY id DESC LIMIT 1',
  );
  return {
    lastSync: async (organizationId, name) => last.get(organizationId, name),
    beginLog: async () => void db.pragma('wal_checkpoint(TRUNCATE)'),
    readLog: () => ({
      walBytes: statSync(log, { throwIfNoEntry: false })?.size ?? 0,
      written: tablesIn(readFileSync(log), db),
    }),
    close: () => db.close(),
  };
}

/** The tables and indexes with a page in the write-ahead log: since it was truncated, nothing else was written to. */
function tablesIn(log, db) {
  const pageSize = log.readUInt32BE(8);
  const written = new Set();
  for (let frame = 32; frame < log.length; frame += 24 + pageSize) written.add(log.readUInt32BE(frame));
  const pages = db.prepare('SELECT name, pageno FROM dbstat').all();
  return [...new Set(pages.filter(({ pageno }) => written.has(pageno)).map(({ name }) => name))];
}

function lookAtServer(url) {
  const text = `SELECT *, started_at::text, finished_at::text FROM mirror.syncs
    WHERE organization_id = $1 AND resource = $2 ORDER BY id DESC LIMIT 1`;
  return {
    lastSync: async (organizationId, name) => {
      const { rows } = await during(url, client => client.query(text, [organizationId, name]));
      return rows[0] && withNumbers(rows[0]);
    },
    beginLog: async () => {},
    readLog: () => ({ walBytes: 0, written: [] }),
    close: () => {},
  };
}

function withNumbers(row) {
  const isNumber = name => /^(?:rows_|requests$|bytes$|drift$)/.test(name);
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isNumber(name) ? Number(value) : value]),
  );
}
