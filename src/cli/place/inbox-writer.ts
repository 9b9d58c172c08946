import { installationJob } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import type { Io } from '../io.js';
import type { Place } from './place.js';

/** Hand work to whoever runs: the receiver and the worker see it within a moment. */
export async function withInbox<T>(
  place: Place,
  now: Io['now'],
  work: (inbox: InboxPort) => Promise<T>,
): Promise<T> {
  const inbox = await place.engine.openInbox(now);
  try {
    return await work(inbox);
  } finally {
    await inbox.close();
  }
}

/** Somebody wants an installation to be looked at again; answers the job that does it. */
export async function askToLook(place: Place, installationId: string, now: Io['now']): Promise<number> {
  const [id] = await withInbox(place, now, inbox =>
    inbox.enqueue([installationJob(installationId, null, 'person')]),
  );
  if (id === undefined) throw new Error('expected the number of a job, got none');
  return id;
}
