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

/** In the order of copying: the mirror must contain what the inbox, the evidence log and the subscriptions refer to. */
const DATABASES = ['inbox.db', 'evidence.db', 'events.db', 'mirror.db'];
const CERTIFICATES = 'certificates';
const ALL = [...DATABASES, CERTIFICATES];
const PATIENT = { busyTimeoutMs: 10_000, readonly: true };

/** Copies all databases and certificates to an empty folder. Other processes may write meanwhile. */
export function copyDataFolder(from: string, to: string): void {
  createPrivateFolder(to);
  for (const name of listExisting(from, DATABASES)) {
    const file = join(to, name);
    withDatabase(openDatabase(join(from, name), PATIENT), db => writeCopy(db, file));
    const found = withDatabase(openDatabase(file, PATIENT), db =>
      String(db.pragma('integrity_check(1)', { simple: true })),
    );
    if (found !== 'ok') throw new StoreError('damaged', `${file} is damaged: ${found}.`, { file });
  }
  const folder = join(from, CERTIFICATES);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new StoreError('damaged', `${folder} is no folder.`, { file: folder });
  createPrivateFolder(join(to, CERTIFICATES));
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (parseRetirementId(name) !== null) copyFile(join(folder, name), join(to, CERTIFICATES, name));
}

/** Throws if a process has a database open. Moves the write-ahead logs into their files. */
export function assertNotOpen(folder: string): void {
  for (const name of listExisting(folder, DATABASES)) {
    const file = join(folder, name);
    try {
      withDatabase(openDatabase(file, { busyTimeoutMs: 0 }), db => db.pragma('journal_mode = DELETE'));
    } catch (error) {
      if (isBusy(error)) {
        const message = `${file} is open in a process: stop every process of carbon-mirror first.`;
        throw new StoreError('in_use', message);
      }
      // What is damaged is what a backup is for.
    }
  }
}

const STAGE = 'restoring';
const STAGE_LOCK = 'lock.db';

/**
 * Creates the folder in which a restore prepares its files, and empties it after a killed restore. Throws if another
 * restore runs, which holds a lock until its process ends.
 */
export function openStagingFolder(folder: string): StagingFolder {
  const stage = join(folder, STAGE);
  createPrivateFolder(stage);
  const lock = new Database(join(stage, STAGE_LOCK), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new StoreError('in_use', `Another restore runs: it prepares its files in ${stage}.`);
  }
  for (const name of readdirSync(stage))
    if (!name.startsWith(STAGE_LOCK)) rmSync(join(stage, name), { recursive: true });
  return {
    folder: join(stage, 'files'),
    close: () => {
      lock.close();
      rmSync(stage, { recursive: true, force: true });
    },
  };
}

/** Lists the folders of files that a restore replaced or did not finish. */
export function findOlderCopies(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter(name => name === STAGE || name.startsWith('replaced-')).map(name => join(folder, name));
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** Moves the present files and their logs to `aside`, and the files of the folder `by` into their place. */
export function replaceDataFiles(folder: string, by: string, aside: string): void {
  const withLogs = ALL.flatMap(name => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]);
  moveAll(folder, aside, withLogs);
  moveAll(by, folder, ALL);
  rmSync(by, { recursive: true });
}

function moveAll(from: string, to: string, names: readonly string[]): void {
  const there = listExisting(from, names);
  if (there.length > 0) createPrivateFolder(to);
  for (const name of there) renameSync(join(from, name), join(to, name));
}

function listExisting(folder: string, names: readonly string[]): string[] {
  return names.filter(name => existsSync(join(folder, name)));
}

/** Copies a certificate. Skips a file that was removed meanwhile; the check of the copy reports missing files. */
function copyFile(from: string, to: string): void {
  if (lstatSync(from, { throwIfNoEntry: false })?.isFile() !== true) return;
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  const descriptor = openSync(to, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
