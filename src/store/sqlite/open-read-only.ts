import { toDamageError } from './damage-error.js';
import { assertMigrated } from './migrate.js';
import { assertRegularFiles, openDatabase, type Sqlite } from './open-database.js';

/** The paths of the two main databases. */
export interface DatabaseFiles {
  readonly mirrorFile: string;
  readonly inboxFile: string;
}

/** A reader may wait for a checkpoint or a migration, but never for a writer. */
const READER_BUSY_MS = 5_000;

/** Opens both databases read-only on one connection: the mirror as `main`, the inbox as `inbox`. */
export function openReadOnly(files: DatabaseFiles): Sqlite {
  const db = openDatabase(files.mirrorFile, { busyTimeoutMs: READER_BUSY_MS, readonly: true });
  try {
    assertMigrated(db, 'mirror');
    attachInbox(db, files.inboxFile);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Attaches inbox.db to the connection. Throws if the file cannot be read. */
function attachInbox(db: Sqlite, file: string): void {
  try {
    assertRegularFiles(file);
    db.prepare('ATTACH DATABASE ? AS inbox').run(file);
    db.pragma('inbox.page_count');
  } catch (error) {
    throw toDamageError(error, file);
  }
}
