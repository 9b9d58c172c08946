import type { Context } from '../context.js';
import { discoverJob } from './discover.js';
import { describe, type FailureCode } from '../outcome.js';
import type { Log } from '../worker/worker.js';

const ANSWER_WITHIN_MS = 10_000;

/**
 * One call at the start: a wrong key or address is told at once and not at the next time of the schedule.
 * The process goes on, for both can be mended elsewhere. What could not be asked waits in the queue, where people
 * see it, and is tried again by itself.
 */
export async function knock({ client, inbox }: Context, log: Log, stopped: AbortSignal): Promise<void> {
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

/** What to look after when the registry does not even tell where the app is installed. */
export function adviceOnAccess(code: FailureCode): string {
  return code === 'unauthorized' || code === 'forbidden'
    ? 'Do REGISTRY_APP_ID and the private key belong together, and is the public half at the registry?'
    : 'Is REGISTRY_BASE_URL right, and does this machine reach it?';
}
