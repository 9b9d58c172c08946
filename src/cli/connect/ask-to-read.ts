import { installationJob } from '../../inbox/job.js';
import type { Io } from '../io.js';
import type { MirrorLocation } from './mirror-location.js';

/** Somebody wants an installation to be looked at again, by whoever works; answers the job that does it. */
export async function askToRead(
  { engine }: MirrorLocation,
  installationId: string,
  now: Io['now'],
): Promise<number> {
  const inbox = await engine.openInbox(now);
  try {
    const [id] = await inbox.enqueue([installationJob(installationId, null, 'person')]);
    if (id === undefined) throw new Error('expected the number of a job, got none');
    return id;
  } finally {
    await inbox.close();
  }
}
