import type { InboxPort } from '../../inbox/port.js';
import { createCertificateFolder } from './certificates/folder.js';
import type { Erased, OpenPdfs, Writers } from '../engine.js';
import { createInboxPort } from './inbox/inbox.js';
import { createMirrorPort } from './mirror/mirror.js';
import { openDatabase, type Sqlite } from './open.js';
import type { Files } from './open-both.js';
import { readerOf } from './reader.js';

export interface AllFiles extends Files {
  /** The folder of certificate files. */
  readonly certificates: string;
}

/** A command writes beside a running receiver and worker. */
const BUSY_MS = 10_000;

export function openInbox(file: string, now: () => number): InboxPort {
  return createInboxPort(openDatabase(file, { busyTimeoutMs: BUSY_MS }), now);
}

export function openPdfs({ certificates }: AllFiles, now: () => number): OpenPdfs {
  return { pdfs: createCertificateFolder(certificates, { now }), close: async () => undefined };
}

export function openWriters({ inboxFile, mirrorFile, certificates }: AllFiles, now: () => number): Writers {
  const inboxDb = openDatabase(inboxFile, { busyTimeoutMs: BUSY_MS });
  const mirrorDb = openMirror(mirrorFile, inboxDb);
  return {
    inbox: createInboxPort(inboxDb, now),
    mirror: createMirrorPort(mirrorDb, certificates),
    pdfs: createCertificateFolder(certificates, { now }),
    reader: readerOf(mirrorDb),
    erase: async vacuum => erase([mirrorDb, inboxDb], vacuum),
    close: async () => {
      mirrorDb.close();
      inboxDb.close();
    },
  };
}

function openMirror(file: string, other: Sqlite): Sqlite {
  try {
    return openDatabase(file, { busyTimeoutMs: BUSY_MS });
  } catch (error) {
    other.close();
    throw error;
  }
}

const UNUSED_PARTS =
  'Older copies may stand in unused parts of the files: without --no-vacuum they are rewritten.';
const HELD_LOG = 'A reader holds a log (-wal) open: old copies leave it when that reader is gone.';

function erase(databases: readonly Sqlite[], vacuum: boolean): Erased {
  if (vacuum) for (const db of databases) db.exec('VACUUM');
  const logEmptied = databases.map(emptyLog).every(Boolean);
  const left = [...(vacuum ? [] : [UNUSED_PARTS]), ...(logEmptied ? [] : [HELD_LOG])];
  return { vacuumed: vacuum, logEmptied, left };
}

/** Moves the log into the file and empties it, so that no old copy stays in it. False where a reader kept it open. */
function emptyLog(db: Sqlite): boolean {
  return db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
}
