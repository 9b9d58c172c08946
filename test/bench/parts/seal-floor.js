// The floor of sealing and verifying: what any program must do at least, without our checks and without reading the mirror.
import { createHmac, hash, randomBytes } from 'node:crypto';
import { Database } from '../../../dist/src/store/sqlite/driver.js';

const ROWS_PER_COMMIT = 5_000;
const SALT_BYTES = 32;
const KEY = randomBytes(32);

/** @typedef {{ seal: number, verify: number }} Seconds of processor time */
/** @typedef {{ document: string, salt: Buffer, commitment: Buffer, code: string, plain_code: string }} Leaf */

/**
 * Hashes each document with a salt, authenticates the hash twice, and stores all in a flushed SQLite file; then reads the file and computes
 * all again.
 * @param {string} file
 * @param {number} rows
 * @param {(n: number) => string} makeDocument
 * @returns {Seconds}
 */
export function measureSealFloor(file, rows, makeDocument) {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(
    `CREATE TABLE leaves (place INTEGER PRIMARY KEY, document TEXT, salt BLOB, commitment BLOB, code TEXT, plain_code TEXT)`,
  );
  const insert = db.prepare('INSERT INTO leaves VALUES (?, ?, ?, ?, ?, ?)');
  const sealFrom = process.cpuUsage();
  for (let first = 0; first < rows; first += ROWS_PER_COMMIT) {
    db.exec('BEGIN IMMEDIATE');
    for (let n = first; n < Math.min(rows, first + ROWS_PER_COMMIT); n++) {
      const document = makeDocument(n);
      const salt = randomBytes(SALT_BYTES);
      const commitment = commit(salt, document);
      insert.run(n, document, salt, commitment, authenticate(commitment), authenticate(salt, commitment));
    }
    db.exec('COMMIT');
  }
  const seal = secondsSince(sealFrom);
  const verifyFrom = process.cpuUsage();
  /** @type {import('better-sqlite3').Statement<[], Leaf>} */
  const selectAll = db.prepare('SELECT * FROM leaves ORDER BY place');
  const leaves = selectAll.iterate();
  for (const { document, salt, commitment, code, plain_code: plainCode } of leaves)
    if (
      !commit(salt, document).equals(commitment) ||
      authenticate(commitment) !== code ||
      authenticate(salt, commitment) !== plainCode
    )
      throw new Error('the floor stored a row wrongly');
  const verify = secondsSince(verifyFrom);
  db.close();
  return { seal, verify };
}

/** @type {(salt: Buffer, document: string) => Buffer} */
function commit(salt, document) {
  return hash('sha256', Buffer.concat([salt, Buffer.from(document)]), 'buffer');
}

/** @type {(...parts: Buffer[]) => string} */
function authenticate(...parts) {
  return createHmac('sha256', KEY).update(Buffer.concat(parts)).digest('hex');
}

/** @param {NodeJS.CpuUsage} from */
function secondsSince(from) {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1e6;
}
