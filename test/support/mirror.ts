import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { migrate } from '../../src/database/migrate.js';
import { openDatabase, type Sqlite } from '../../src/database/open.js';
import { NOON, temporaryFolder } from './inbox.js';

/** A real, migrated mirror.db that goes away with its test. */
export function temporaryMirror(folder: string = temporaryFolder()): Sqlite {
  const db = openDatabase(join(folder, 'mirror.db'), { busyTimeoutMs: 1_000 });
  onTestFinished(() => {
    db.close();
  });
  migrate(db, 'mirror', new Date(NOON).toISOString());
  return db;
}
