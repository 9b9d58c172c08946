import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase, type Sqlite, write } from '../database/open.js';
import type { CommitRequest, CommitThreadData } from './commit-thread.js';
import { type AcceptDeliveries, createAcceptDeliveries } from './deliveries.js';
import { describeFailure, type StoreResult, storeGroup } from './store-group.js';

/** What runs in the thread: one connection, one request after the other. */
function serve(port: NonNullable<typeof parentPort>, { file, busyTimeoutMs }: CommitThreadData): void {
  const db = openDatabase(file, { busyTimeoutMs });
  const accept = createAcceptDeliveries(db);
  port.on('message', (request: CommitRequest) => {
    port.postMessage(answer(db, accept, request));
    if (request.kind === 'close') port.close();
  });
  port.postMessage([]);
}

function answer(db: Sqlite, accept: AcceptDeliveries, request: CommitRequest): StoreResult[] {
  if (request.kind === 'store') return storeGroup(accept, request.deliveries, request.now);
  if (request.kind === 'check') return checkWritable(db);
  db.close();
  return [];
}

function checkWritable(db: Sqlite): StoreResult[] {
  try {
    write(db, () => undefined);
    return [];
  } catch (error) {
    return [{ failure: describeFailure(error) }];
  }
}

if (parentPort !== null) serve(parentPort, workerData);
