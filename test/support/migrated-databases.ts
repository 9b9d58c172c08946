import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrateFile } from '../../src/store/sqlite/migrate.js';
import { makeFolder } from './folder.js';

type Family = 'inbox' | 'mirror';

const OWNER_ONLY = 0o600;
const templates = new Map<Family, Buffer>();

/** Both of a folder. */
export function createMigratedDatabases(folder: string): void {
  createMigratedDatabase(join(folder, 'inbox.db'), 'inbox');
  createMigratedDatabase(join(folder, 'mirror.db'), 'mirror');
}

/** Puts a migrated, empty database where none stands. It is migrated once a process: all other tests have a copy. */
export function createMigratedDatabase(file: string, family: Family): void {
  if (existsSync(file)) return;
  const bytes = templates.get(family) ?? readMigratedDatabase(family);
  templates.set(family, bytes);
  writeFileSync(file, bytes, { mode: OWNER_ONLY });
}

function readMigratedDatabase(family: Family): Buffer {
  const folder = makeFolder('carbon-mirror-template-');
  const file = join(folder, `${family}.db`);
  migrateFile(file, family, new Date(0).toISOString());
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  return bytes;
}
