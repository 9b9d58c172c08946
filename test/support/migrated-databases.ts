import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrateFile } from '../../src/store/sqlite/migrate.js';
import { makeFolder } from './folder.js';

type DatabaseName = 'inbox' | 'mirror';

const OWNER_ONLY = 0o600;
const templates = new Map<DatabaseName, Buffer>();

/** Creates a migrated inbox.db and mirror.db in a folder. */
export function createMigratedDatabases(folder: string): void {
  createMigratedDatabase(join(folder, 'inbox.db'), 'inbox');
  createMigratedDatabase(join(folder, 'mirror.db'), 'mirror');
}

/** Creates a migrated, empty database unless the file exists. The first call of a process migrates; later calls copy. */
export function createMigratedDatabase(file: string, database: DatabaseName): void {
  if (existsSync(file)) return;
  const bytes = templates.get(database) ?? readMigratedDatabase(database);
  templates.set(database, bytes);
  writeFileSync(file, bytes, { mode: OWNER_ONLY });
}

function readMigratedDatabase(database: DatabaseName): Buffer {
  const folder = makeFolder('carbon-mirror-template-');
  const file = join(folder, `${database}.db`);
  migrateFile(file, database, new Date(0).toISOString());
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  return bytes;
}
