import { createInboxPort } from '../engines/sqlite/inbox/inbox.js';
import type { InboxPort } from '../inbox/port.js';
import { openDatabase, type Sqlite } from '../engines/sqlite/open.js';
import { createMirrorPort } from '../engines/sqlite/mirror/direct.js';
import { createMirror } from '../mirror/create-mirror.js';
import type { Mirror } from '../mirror/mirror.js';
import type { Place } from './place.js';

export interface Writers {
  readonly inbox: InboxPort;
  readonly inboxDb: Sqlite;
  readonly mirror: Mirror;
  readonly mirrorDb: Sqlite;
}

const BUSY_MS = 10_000;

/** For the few commands that write both databases beside a running receiver and worker. */
export async function withWriters<T>(
  place: Place,
  now: () => number,
  work: (writers: Writers) => Promise<T>,
): Promise<T> {
  const inboxDb = openDatabase(place.inboxFile, { busyTimeoutMs: BUSY_MS });
  try {
    const mirrorDb = openDatabase(place.mirrorFile, { busyTimeoutMs: BUSY_MS });
    try {
      const mirror = createMirror(createMirrorPort(mirrorDb, place.certificates), now);
      return await work({ inbox: createInboxPort(inboxDb, now), inboxDb, mirror, mirrorDb });
    } finally {
      mirrorDb.close();
    }
  } finally {
    inboxDb.close();
  }
}

/** Moves the log into the file and empties it, so that no old copy stays in it. False where a reader kept it open. */
export function emptyLog(db: Sqlite): boolean {
  return db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
}
