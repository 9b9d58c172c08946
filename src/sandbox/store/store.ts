import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { type Clock, createClock, toInstant } from './clock.js';
import { Sqlite } from './driver.js';
import { createAccounts, type Accounts } from './accounts.js';
import { ADDITIONS, SCHEMA, SCHEMA_VERSION } from './tables.js';

/** The sandbox's database with its clock, its accounts and its source of ids. */
export interface Store {
  readonly db: Database;
  readonly file: string;
  readonly clock: Clock;
  readonly accounts: Accounts;
  readonly now: () => string;
  readonly newId: () => string;
  readonly newHash: () => string;
  /** One transaction with one `now`. Holds whose time has come have ended before it begins. */
  readonly write: <Result>(work: (now: string) => Result) => Result;
  readonly close: () => void;
}

export interface StoreOptions {
  readonly file: string;
  readonly wall: () => number;
}

export function openStore({ file, wall }: StoreOptions): Store {
  const db = openDatabase(file);
  const accounts = createAccounts(db);
  const clock = createClock(db, wall, at => accounts.endExpiredHolds(toInstant(at)));
  const now = () => toInstant(clock.now());

  return {
    db,
    file,
    clock,
    accounts: accounts,
    now,
    newId: () => randomUUID(),
    newHash: () => `0x${randomBytes(32).toString('hex')}`,
    write: work =>
      db
        .transaction(() => {
          const at = now();
          accounts.endExpiredHolds(at);
          return work(at);
        })
        .immediate(),
    close: () => db.close(),
  };
}

/** A connection of its own, for an answer that is read while others write. */
export function openReader(file: string): Database {
  return new Sqlite(file, { readonly: true });
}

function openDatabase(file: string): Database {
  const db = new Sqlite(file, { timeout: 5000 });
  chmodSync(file, 0o600);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma('foreign_keys = ON');
  const version = db.pragma('user_version', { simple: true });
  if (version !== 0 && version !== SCHEMA_VERSION) {
    db.close();
    throw new Error(`${file} has schema version ${String(version)}, this sandbox reads ${SCHEMA_VERSION}`);
  }
  db.transaction(() => {
    if (version === 0) db.exec(SCHEMA);
    db.exec(ADDITIONS);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  }).immediate();
  return db;
}
