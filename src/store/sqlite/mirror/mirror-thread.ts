import { parentPort, workerData } from 'node:worker_threads';
import { serveThread } from '../../../thread.js';
import { createStatementRunner, tuneForWriting, type StatementRunner } from '../database.js';
import { openDatabase } from '../open-database.js';
import type { MirrorThreadData } from './start-mirror-thread.js';

/** Opens the connection on which this thread writes the mirror. */
function openConnection({ file, busyTimeoutMs }: MirrorThreadData): StatementRunner & { close: () => void } {
  const db = tuneForWriting(openDatabase(file, { busyTimeoutMs }));
  return { ...createStatementRunner(db), close: () => void db.close() };
}

if (parentPort !== null) await serveThread(parentPort, () => openConnection(workerData));
