import type { MirrorPort } from '../../../mirror/port/mirror-port.js';
import { resolveBuiltFile } from '../../../package.js';
import { startThread, type ThreadOptions } from '../../../thread.js';
import { createMirrorStore } from '../../mirror/mirror-store.js';
import { createCertificateFileAccess } from './certificate-folder.js';
import {
  type AsyncStatementRunner,
  createStatementRunner,
  createQueuedDatabase,
  splitLargeInserts,
  type StatementRunner,
} from '../database.js';
import type { Sqlite } from '../open-database.js';

/** The data that the mirror thread is started with. */
export interface MirrorThreadData {
  /** A mirror.db that has been migrated. */
  readonly file: string;
  readonly busyTimeoutMs: number;
}

export interface MirrorThreadOptions extends MirrorThreadData, Pick<ThreadOptions, 'onFailed'> {
  /** The folder of certificate files. */
  readonly certificates: string;
  /** A connection of the calling thread, for reads. The caller closes it after the port. */
  readonly reader: Sqlite;
  readonly entry?: URL;
}

/** A mirror port whose writes run in the thread. */
export interface MirrorThread {
  readonly mirror: MirrorPort;
  readonly close: () => Promise<void>;
}

const ENTRY = resolveBuiltFile(import.meta.url, './mirror-thread.js');

/**
 * Starts a thread that writes the mirror, so that transactions, flushes and locks do not block the worker. Writes run in the order
 * of the calls. A read sees every write whose promise has resolved.
 */
export async function startMirrorThread(options: MirrorThreadOptions): Promise<MirrorThread> {
  const { file, busyTimeoutMs, certificates, reader, onFailed, entry = ENTRY } = options;
  const workerData: MirrorThreadData = { file, busyTimeoutMs };
  const { call, close } = await startThread<StatementRunner>({
    entry,
    workerData,
    description: 'the thread that writes the mirror',
    onFailed,
  });
  const readRunner = createStatementRunner(reader);
  const runner: AsyncStatementRunner = {
    read: async all => readRunner.run(all),
    // The first statements that are sent begin the transaction.
    beginTransaction: async () => {},
    runInTransaction: splitLargeInserts(all => call('runInTransaction', [all])),
    endTransaction: commits => call('endTransaction', [commits]),
  };
  const database = createQueuedDatabase(runner);
  return { mirror: createMirrorStore(database, createCertificateFileAccess(certificates)), close };
}
