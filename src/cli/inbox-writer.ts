import { createInbox, type Inbox } from '../inbox/inbox.js';
import { openDatabase } from '../database/open.js';
import type { Place } from './place.js';

const BUSY_MS = 10_000;

/** Hand work to whoever runs: the receiver and the worker see it within a moment. */
export function withInbox<T>(place: Place, work: (inbox: Inbox) => T): T {
  const db = openDatabase(place.inboxFile, { busyTimeoutMs: BUSY_MS });
  try {
    return work(createInbox(db));
  } finally {
    db.close();
  }
}
