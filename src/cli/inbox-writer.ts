import type { Inbox } from '../inbox/inbox.js';
import { installationJob } from '../inbox/job.js';
import type { Place } from './place.js';

const BUSY_MS = 10_000;

/** Hand work to whoever runs: the receiver and the worker see it within a moment. */
export async function withInbox<T>(place: Place, work: (inbox: Inbox) => T): Promise<T> {
  const { createInbox } = await import('../inbox/inbox.js');
  const { openDatabase } = await import('../engines/sqlite/open.js');
  const db = openDatabase(place.inboxFile, { busyTimeoutMs: BUSY_MS });
  try {
    return work(createInbox(db));
  } finally {
    db.close();
  }
}

/** Somebody wants an installation to be looked at again; answers the job that does it. */
export async function askToLook(place: Place, installationId: string, now: number): Promise<number> {
  return await withInbox(place, inbox => inbox.enqueue(installationJob(installationId, null, 'person'), now));
}
