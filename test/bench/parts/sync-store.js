// Opens the database of the measured side of the sync benchmark, and inspects what was written.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine } from '../../../dist/src/store/open-engine.js';
import { openDatabase } from '../../../dist/src/store/sqlite/open-database.js';
import { withConnection } from './engine.js';

/** @import { Sqlite } from '../../../dist/src/store/sqlite/open-database.js' */
/** @import { Tables } from '../../../dist/src/store/contract/tables.js' */
/** @typedef {Tables['syncs']} SyncRow */

/**
 * @typedef {{
 *   lastSync: (organizationId: string, name: string) => Promise<SyncRow | undefined>,
 *   beginLog: () => Promise<void>,
 *   readLog: () => { walBytes: number, written: string[] },
 *   close: () => void,
 * }} StoreInspector
 */

/**
 * Opens the store. `database` is the URL of an empty database, or null for SQLite.
 * @param {{ dataDir: string, database: string | null }} place
 * @param {() => number} now
 */
export async function openStore({ dataDir, database }, now) {
  const engine = openEngine({
    dataDir,
    diskReserveMb: 0,
    database: database === null ? null : { url: database, queryUrl: null, pool: null },
  });
  await engine.migrate(now());
  const work = await engine.openWorkerStores({
    now,
    onWriterFailed: error => {
      throw error;
    },
    onConnectionLost: () => undefined,
  });
  const look = database === null ? inspectFile(join(dataDir, 'mirror.db')) : inspectServer(database);
  const close = async () => {
    await work.close();
    look.close();
  };
  return { work, ...look, close };
}

/**
 * @param {string} file
 * @returns {StoreInspector}
 */
function inspectFile(file) {
  const db = openDatabase(file, { busyTimeoutMs: 5000 });
  const log = `${file}-wal`;
  /** @type {import('better-sqlite3').Statement<[string, string], SyncRow>} */
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

/**
 * Returns the tables and indexes with a page in the write-ahead log: those written since it was truncated.
 * @param {Buffer} log
 * @param {Sqlite} db
 */
function tablesIn(log, db) {
  const pageSize = log.readUInt32BE(8);
  const written = new Set();
  for (let frame = 32; frame < log.length; frame += 24 + pageSize) written.add(log.readUInt32BE(frame));
  /** @type {import('better-sqlite3').Statement<[], { name: string, pageno: number }>} */
  const select = db.prepare('SELECT name, pageno FROM dbstat');
  const pages = select.all();
  return [...new Set(pages.filter(({ pageno }) => written.has(pageno)).map(({ name }) => name))];
}

/**
 * @param {string} url
 * @returns {StoreInspector}
 */
function inspectServer(url) {
  const text = `SELECT *, started_at::text, finished_at::text FROM mirror.syncs
    WHERE organization_id = $1 AND resource = $2 ORDER BY id DESC LIMIT 1`;
  return {
    lastSync: async (organizationId, name) => {
      const { rows } = await withConnection(url, client => client.query(text, [organizationId, name]));
      return rows[0] && withNumbers(rows[0]);
    },
    beginLog: async () => {},
    readLog: () => ({ walBytes: 0, written: [] }),
    close: () => {},
  };
}

/** @param {SyncRow} row */
function withNumbers(row) {
  /** @type {(name: string) => boolean} */
  const isNumber = name => /^(?:rows_|requests$|bytes$|drift$)/.test(name);
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isNumber(name) ? Number(value) : value]),
  );
}
