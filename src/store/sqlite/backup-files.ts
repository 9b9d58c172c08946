import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createPrivateFolder } from '../../folder.js';
import { parseRetirementId } from '../../mirror/certificates/certificate-file-name.js';
import type { StagingFolder } from '../engine.js';
import { StoreError } from '../store-error.js';
import { writeCopy } from './snapshot.js';
import { Database } from './driver.js';
import { withDatabase, openDatabase } from './open-database.js';

/** In the order of copying. The mirror is last, so that its copy contains the rows that the other copies refer to. */
const DATABASE_FILES = ['inbox.db', 'evidence.db', 'events.db', 'mirror.db'];
const CERTIFICATES = 'certificates';
const ALL_NAMES = [...DATABASE_FILES, CERTIFICATES];
const COPY_OPTIONS = { busyTimeoutMs: 10_000, readonly: true };

/**
 * Copies all databases and certificates of a data folder to an empty folder, while other processes may write. Throws if the copy
 * of a database is damaged.
 */
export function copyDataFolder(from: string, to: string): void {
  createPrivateFolder(to);
  for (const name of listExisting(from, DATABASE_FILES)) {
    const file = join(to, name);
    withDatabase(openDatabase(join(from, name), COPY_OPTIONS), db => writeCopy(db, file));
    const found = withDatabase(openDatabase(file, COPY_OPTIONS), db =>
      String(db.pragma('integrity_check(1)', { simple: true })),
    );
    if (found !== 'ok') throw new StoreError('damaged', `${file} is damaged: ${found}.`, { file });
  }
  const folder = join(from, CERTIFICATES);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new StoreError('damaged', `${folder} is no folder.`, { file: folder });
  createPrivateFolder(join(to, CERTIFICATES));
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (parseRetirementId(name) !== null) copyCertificate(join(folder, name), join(to, CERTIFICATES, name));
}

/**
 * Throws if any process has one of the databases in a data folder open. The check also moves each write-ahead log into its
 * database file.
 */
export function assertNotOpen(folder: string): void {
  for (const name of listExisting(folder, DATABASE_FILES)) {
    const file = join(folder, name);
    try {
      withDatabase(openDatabase(file, { busyTimeoutMs: 0 }), db => db.pragma('journal_mode = DELETE'));
    } catch (error) {
      if (isBusy(error)) {
        const message = `${file} is open in a process: stop every process of carbon-mirror first.`;
        throw new StoreError('in_use', message);
      }
      // A damaged file is no obstacle: the restore replaces it.
    }
  }
}

const STAGING_FOLDER = 'restoring';
const STAGING_LOCK = 'lock.db';

/**
 * Creates the folder in which a restore prepares its files, and removes the files of a restore that was killed. Throws if
 * another restore is running. A running restore holds a lock in the folder until its process ends.
 */
export function openStagingFolder(folder: string): StagingFolder {
  const stage = join(folder, STAGING_FOLDER);
  createPrivateFolder(stage);
  const lock = new Database(join(stage, STAGING_LOCK), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new StoreError('in_use', `Another restore runs: it prepares its files in ${stage}.`);
  }
  for (const name of readdirSync(stage))
    if (!name.startsWith(STAGING_LOCK)) rmSync(join(stage, name), { recursive: true });
  return {
    folder: join(stage, 'files'),
    close: () => {
      lock.close();
      rmSync(stage, { recursive: true, force: true });
    },
  };
}

/**
 * Returns the paths of the folders that restores left in the data folder: folders with the files that a restore replaced, and the folder of
 * an interrupted restore.
 */
export function findOlderCopies(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter(name => name === STAGING_FOLDER || name.startsWith('replaced-'))
    .map(name => join(folder, name));
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/**
 * Replaces the files of a data folder by those of `newFolder`, and removes `newFolder`. Moves the old files, with their logs, to
 * `replacedFolder`.
 */
export function replaceDataFiles(folder: string, newFolder: string, replacedFolder: string): void {
  const withLogs = ALL_NAMES.flatMap(name => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]);
  moveExisting(folder, replacedFolder, withLogs);
  moveExisting(newFolder, folder, ALL_NAMES);
  rmSync(newFolder, { recursive: true });
}

/** Moves files from one folder to another. Skips names that do not exist. */
function moveExisting(from: string, to: string, names: readonly string[]): void {
  const existing = listExisting(from, names);
  if (existing.length > 0) createPrivateFolder(to);
  for (const name of existing) renameSync(join(from, name), join(to, name));
}

function listExisting(folder: string, names: readonly string[]): string[] {
  return names.filter(name => existsSync(join(folder, name)));
}

/** Copies a certificate file and flushes the copy to disk. Does nothing if `from` is no regular file. */
function copyCertificate(from: string, to: string): void {
  // The file may have been removed meanwhile. The backup reports a certificate that is missing in the finished copy.
  if (lstatSync(from, { throwIfNoEntry: false })?.isFile() !== true) return;
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  const descriptor = openSync(to, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
