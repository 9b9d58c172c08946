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
} from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '../../../folder.js';
import { retirementOf } from '../../../mirror/certificates/file-name.js';
import { writeCopy } from '../copy.js';
import { DatabaseError } from '../errors.js';
import { openDatabase } from '../open.js';

/** What the inbox and the log tell of, the mirror has: so it is copied after them, and after it what its rows name. */
const DATABASES = ['inbox.db', 'evidence.db', 'mirror.db'];
const CERTIFICATES = 'certificates';
const ALL = [...DATABASES, CERTIFICATES];
const BUSY_MS = 10_000;

/** Copies all that stands in a folder to another, which holds nothing of it, while others write. */
export function copyAll(from: string, to: string): void {
  makePrivateFolder(to);
  for (const name of DATABASES.filter(each => existsSync(join(from, each)))) {
    const db = openDatabase(join(from, name), { busyTimeoutMs: BUSY_MS, readonly: true });
    try {
      writeCopy(db, join(to, name));
    } finally {
      db.close();
    }
    demandWhole(join(to, name));
  }
  const folder = join(from, CERTIFICATES);
  makePrivateFolder(join(to, CERTIFICATES));
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (retirementOf(name) !== null) copyFile(join(folder, name), join(to, CERTIFICATES, name));
}

function demandWhole(file: string): void {
  const db = openDatabase(file, { busyTimeoutMs: BUSY_MS, readonly: true });
  try {
    const found = String(db.pragma('integrity_check(1)', { simple: true }));
    if (found !== 'ok') throw new DatabaseError('damaged', file, `${file} is damaged: ${found}.`);
  } finally {
    db.close();
  }
}

/** One that was removed meanwhile is no fault here: whoever holds the copy against its rows finds what lacks. */
function copyFile(from: string, to: string): void {
  if (lstatSync(from, { throwIfNoEntry: false })?.isFile() !== true) return;
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  const descriptor = openSync(to, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Throws where any process has one of the databases open. A log that goes with its file is moved into it. */
export function demandAlone(folder: string): void {
  for (const name of DATABASES.filter(each => existsSync(join(folder, each)))) {
    try {
      const db = openDatabase(join(folder, name), { busyTimeoutMs: 0 });
      try {
        db.pragma('journal_mode = DELETE');
      } finally {
        db.close();
      }
    } catch (error) {
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY'))
        throw new DatabaseError(
          'in_use',
          join(folder, name),
          `${join(folder, name)} is open in a process: stop every process of carbon-mirror first.`,
        );
      // What is damaged is what a backup is for.
    }
  }
}

/** Puts what one folder holds in the place of what another holds, which goes into a third with its logs, where there is any. */
export function replaceAll(folder: string, by: string, aside: string): void {
  const move = (from: string, to: string, names: readonly string[]) => {
    const there = names.filter(name => existsSync(join(from, name)));
    if (there.length > 0) makePrivateFolder(to);
    for (const name of there) renameSync(join(from, name), join(to, name));
  };
  move(
    folder,
    aside,
    ALL.flatMap(name => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]),
  );
  move(by, folder, ALL);
  rmSync(by, { recursive: true });
}
