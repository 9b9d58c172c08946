import { statSync } from 'node:fs';
import { type Disk, describeDisk } from '../contract/disk-space.js';
import { fail, type Finding, ok, warn } from '../contract/finding.js';
import { describeSchemaChanges } from '../schema-objects.js';
import { checkWals } from './check-wals.js';
import { findSchemaChanges, type OptionalDatabaseFiles } from './find-schema-changes.js';
import type { Sqlite } from './open-database.js';
import { type DatabaseFiles, openReadOnly } from './open-read-only.js';

/** `doctor` warns when free space is below this multiple of the reserve. */
const LOW_SPACE_FACTOR = 2;
/** The permission bits of the group and of others. */
const OTHERS_MASK = 0o077;

/**
 * Checks the database files, and yields findings about disk space, damage, schema, write-ahead logs and permissions.
 * `optionalFiles` are the files of databases that may not exist yet.
 */
export function* examine(
  files: DatabaseFiles,
  disk: Disk,
  optionalFiles: OptionalDatabaseFiles,
): Iterable<Finding> {
  yield checkDisk(disk);
  const db = openReadOnly(files);
  try {
    for (const name of ['main', 'inbox']) yield examineDatabaseFile(db, name);
    yield* describeSchemaChanges(findSchemaChanges(db, optionalFiles));
    yield* checkWals(db, files);
    for (const file of [files.mirrorFile, files.inboxFile]) yield* checkPermissions(file);
  } finally {
    db.close();
  }
}

/** Reports whether the disk has enough free space. */
function checkDisk(disk: Disk): Finding {
  const found = `${disk.paused ? 'reads and certificates pause: ' : ''}${describeDisk(disk)}`;
  const todo =
    'Free some, or move DATA_DIR. Below the reserve nothing is read, below a tenth of it /readyz fails; deliveries are stored.';
  if (disk.paused) return fail('disk', found, todo);
  const isLittle = disk.freeBytes < disk.reserveBytes * LOW_SPACE_FACTOR;
  return isLittle ? warn('disk', found, todo) : ok('disk', found);
}

/** Checks a database file for damage and returns the finding. `schema` is the name of the database on the connection `db`. */
function examineDatabaseFile(db: Sqlite, schema: string): Finding {
  const file = schema === 'main' ? 'mirror.db' : 'inbox.db';
  const answer = String(db.pragma(`${schema}.quick_check(1)`, { simple: true }));
  const version = String(db.pragma(`${schema}.user_version`, { simple: true }));
  if (answer === 'ok') return ok('databases', `${file}: whole, schema ${version}`);
  const todo = 'The mirror can be read anew from the registry; the inbox and the history come from a backup.';
  return fail('databases', `${file}: ${answer}`, todo);
}

/** Returns a warning if other users of the machine can access a database file, and an empty list otherwise. */
function checkPermissions(file: string): Finding[] {
  const mode = statSync(file).mode & 0o777;
  if ((mode & OTHERS_MASK) === 0) return [];
  const found = `${file} can be read by others (mode ${mode.toString(8)})`;
  return [warn('databases', found, `chmod 600 ${file}`)];
}
