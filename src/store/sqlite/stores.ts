import type { InboxPort } from '../../inbox/port.js';
import type { ErasureReport, OpenPdfs, WorkerStoreOptions, WorkerStores, WriterStores } from '../engine.js';
import type { DatabaseName } from '../migrations.js';
import { createCertificateFolder } from './mirror/certificate-folder.js';
import { createInboxPort } from './inbox/inbox-port.js';
import { createHeldTimer, readWalState } from './wal-state.js';
import { createMirrorPort } from './mirror/mirror-port.js';
import { startMirrorThread } from './mirror/start-mirror-thread.js';
import { openDatabase, type Sqlite } from './open-database.js';
import type { DatabaseFiles } from './open-read-only.js';
import { createReader } from './reader.js';

/** The paths of the two main databases and of the certificates. */
export interface SqliteFiles extends DatabaseFiles {
  /** The folder of certificate files. */
  readonly certificates: string;
}

/** Workers and commands may wait long for a lock of another writer. */
const BUSY_MS = 10_000;

/** Opens a migrated inbox.db, which stores deliveries and jobs. */
export function openInbox(file: string, now: () => number): InboxPort {
  return createInboxPort(openDatabase(file, { busyTimeoutMs: BUSY_MS }), now);
}

/** Opens the folder of certificate files. */
export function openPdfs({ certificates }: SqliteFiles, now: () => number): OpenPdfs {
  return { pdfs: createCertificateFolder(certificates, { now }), close: async () => undefined };
}

/** Opens the inbox, the mirror and the certificates for a command that writes. */
export function openWriterStores(files: SqliteFiles, now: () => number): Promise<WriterStores> {
  return openDatabases(files, false, async (inboxDb, mirrorDb, close) => ({
    inbox: createInboxPort(inboxDb, now),
    mirror: createMirrorPort(mirrorDb, files.certificates),
    ...openPdfs(files, now),
    reader: createReader(mirrorDb),
    erase: async vacuum => eraseOldCopies([mirrorDb, inboxDb], vacuum),
    close: async () => close(),
  }));
}

/** Opens the inbox, the mirror and the certificates for a worker. A second thread writes the mirror. */
export function openWorkerStores(
  files: SqliteFiles,
  { now, onWriterFailed }: WorkerStoreOptions,
): Promise<WorkerStores> {
  return openDatabases(files, true, async (inboxDb, mirrorDb, close) => {
    const { mirrorFile: file, certificates } = files;
    const thread = { file, reader: mirrorDb, busyTimeoutMs: BUSY_MS, certificates, onFailed: onWriterFailed };
    const { mirror, close: closeThread } = await startMirrorThread(thread);
    const monitors = [createWalMonitor('inbox', inboxDb), createWalMonitor('mirror', mirrorDb)];
    return {
      inbox: createInboxPort(inboxDb, now),
      mirror,
      ...openPdfs(files, now),
      reader: createReader(mirrorDb),
      readWalStatus: at => monitors.map(readStatus => readStatus(at)),
      close: async () => {
        await closeThread();
        close();
      },
    };
  });
}

/** Opens both databases and passes them to `work`, with a function that closes both. Closes them itself if `work` throws. */
async function openDatabases<T>(
  { inboxFile, mirrorFile }: DatabaseFiles,
  isMirrorReadOnly: boolean,
  work: (inboxDb: Sqlite, mirrorDb: Sqlite, close: () => void) => Promise<T>,
): Promise<T> {
  const inboxDb = openDatabase(inboxFile, { busyTimeoutMs: BUSY_MS });
  const open = [inboxDb];
  const close = () => open.forEach(db => db.close());
  try {
    const mirrorDb = openDatabase(mirrorFile, { busyTimeoutMs: BUSY_MS, readonly: isMirrorReadOnly });
    open.unshift(mirrorDb);
    return await work(inboxDb, mirrorDb, close);
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Creates a function that returns the status of a write-ahead log: how many bytes are not in the database file yet, and for how long
 * a reader has prevented checkpoints. Call it regularly, because it measures the time between its calls.
 */
function createWalMonitor(name: DatabaseName, db: Sqlite) {
  const measure = createHeldTimer();
  return (now: number) => {
    const state = readWalState(db);
    return { name, unmovedBytes: state.unmovedBytes, heldMs: measure(state, now) };
  };
}

const UNUSED_PARTS =
  'Older copies may stand in unused parts of the files: without --no-vacuum they are rewritten.';
const HELD_LOG = 'A reader holds a log (-wal) open: old copies leave it when that reader is gone.';

/**
 * Erases the copies of deleted rows that SQLite leaves in its files: empties the write-ahead logs and, with `vacuum`, rewrites the database
 * files. Returns a report that says where copies may remain.
 */
function eraseOldCopies(databases: readonly Sqlite[], vacuum: boolean): ErasureReport {
  if (vacuum) for (const db of databases) db.exec('VACUUM');
  const logEmptied = databases.map(emptyLog).every(Boolean);
  const remainingCopies = [...(vacuum ? [] : [UNUSED_PARTS]), ...(logEmptied ? [] : [HELD_LOG])];
  return { vacuumed: vacuum, logEmptied, remainingCopies };
}

/** Moves the write-ahead log into its file, so that no old copies remain in it. Returns false if a reader prevents that. */
function emptyLog(db: Sqlite): boolean {
  return db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
}
