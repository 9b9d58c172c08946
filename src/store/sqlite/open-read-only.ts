import { toDamageError } from './damage-error.js';
import { demandSchema } from './migrate.js';
import { assertRegularFiles, openDatabase, type Sqlite } from './open-database.js';

export interface Files {
  readonly mirrorFile: string;
  readonly inboxFile: string;
}

/** A reader waits for a checkpoint or a migration, never for a writer: the log lets both go on. */
const READER_BUSY_MS = 5_000;

/** The mirror as `main` and the inbox as `inbox`, both read-only. */
export function openBoth(files: Files): Sqlite {
  const db = openDatabase(files.mirrorFile, { busyTimeoutMs: READER_BUSY_MS, readonly: true });
  try {
    demandSchema(db, 'mirror');
    attachInbox(db, files.inboxFile);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function attachInbox(db: Sqlite, file: string): void {
  try {
    assertRegularFiles(file);
    db.prepare('ATTACH DATABASE ? AS inbox').run(file);
    db.pragma('inbox.page_count');
  } catch (error) {
    throw toDamageError(error, file);
  }
}
