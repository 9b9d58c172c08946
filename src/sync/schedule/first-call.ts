import { adviceOnAccess } from '../../registry/errors.js';
import type { Context } from '../context.js';
import { discoverJob } from './discover.js';
import { describe } from '../outcome.js';
import type { Log } from '../worker/worker.js';

const ANSWER_WITHIN_MS = 10_000;

/**
 * One call at the start: a wrong key or address is told at once and not at the next time of the schedule.
 * The process goes on, for both can be mended elsewhere. What could not be asked waits in the queue, where people
 * see it, and is tried again by itself.
 */
export async function callFirst({ client, inbox }: Context, log: Log, stopped: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
  try {
    await client.app.createAppToken({ signal });
  } catch (error) {
    if (stopped.aborted) return;
    const failure = describe(error);
    log.error(
      { registry: client.http.baseUrl, error: failure },
      `no access to the registry: ${adviceOnAccess(failure.code)}`,
    );
    await inbox.enqueue([discoverJob('worker')]);
  }
}
