import { parentPort, workerData } from 'node:worker_threads';
import { serveThread } from '../../../thread.js';
import { createWorks, tuned, type Works } from '../database.js';
import { openDatabase } from '../open-database.js';
import type { MirrorThreadData } from './start-mirror-thread.js';

/** One connection, one message after the other. */
function open({ file, busyTimeoutMs }: MirrorThreadData): Works & { close: () => void } {
  const db = tuned(openDatabase(file, { busyTimeoutMs }));
  return { ...createWorks(db), close: () => void db.close() };
}

if (parentPort !== null) await serveThread(parentPort, () => open(workerData));
