import type { ProjectAnswer } from '../../mirror/port/mirror-port.js';
import { createProjectAnswer } from '../../mirror/sync-session.js';
import { RegistryError } from '../../registry/errors.js';
import type { ReadContext } from '../installation/read-context.js';
import { describeFailure, endsBatch, MAX_CONSECUTIVE_FAILURES } from '../outcome.js';
import { createCallCounter } from './call-counter.js';

const BATCH_SIZE = 4;
/** An hour less than a day, so that a schedule of one round a day requests each project in every round. */
const PROJECT_REQUEST_INTERVAL_MS = 23 * 3_600_000;

/** Reads the due projects of an organization and writes them to the mirror. */
export async function readProjects(context: ReadContext): Promise<void> {
  const { mirror, writeClaim, job, cause, now, signal } = context;
  const startedAt = now();
  const calls = createCallCounter(signal, now);
  const session = await mirror.beginProjects({ ...writeClaim, trigger: job.trigger, cause, startedAt });
  context.observations.previousReads.set('projects', session.previousRead);
  // The session takes a request dated after its own `now` for one of a wrong clock, so no time may pass before it is called.
  const dueIds = await session.listDue(computeRequestCutoff(context));
  if (dueIds.length === 0) return;

  /** Requests one project. If the registry refuses to show it, returns the error message instead; throws any other error. */
  async function requestProject(id: string): Promise<ProjectAnswer> {
    const requestedAt = now();
    try {
      const project = await context.client.token.readProject(id, calls.requestOptions);
      return createProjectAnswer(project, { requestedAt, arrivedAt: now() });
    } catch (error) {
      if (!isProjectRefused(error)) throw error;
      return { id, requestedAt, error: error.message };
    }
  }

  const failures: unknown[] = [];
  let consecutiveFailures = 0;

  /**
   * Requests a batch of projects and stores the answers. Collects errors in `failures`, and throws only one that must stop
   * the remaining batches.
   */
  async function readProjectBatch(ids: readonly string[]): Promise<void> {
    const results = await Promise.allSettled(ids.map(requestProject));
    await session.write(results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : [])));
    for (const result of results) {
      if (result.status === 'fulfilled') {
        consecutiveFailures = 0;
        continue;
      }
      consecutiveFailures += 1;
      failures.push(result.reason);
      const isOutage = consecutiveFailures >= MAX_CONSECUTIVE_FAILURES;
      if (signal.aborted || isOutage || endsBatch(result.reason)) throw result.reason;
    }
  }

  try {
    for (let start = 0; start < dueIds.length; start += BATCH_SIZE) {
      await readProjectBatch(dueIds.slice(start, start + BATCH_SIZE));
      await context.yieldTurn();
    }
    if (failures.length > 0) throw failures[0];
    await session.finish(calls.getTraffic());
  } catch (error) {
    const { code, message } = describeFailure(signal.aborted ? signal.reason : error);
    await session.abandon({ code, message }, calls.getTraffic());
    throw error;
  }
}

/** Returns the cutoff instant. Projects that were last requested earlier are due. */
function computeRequestCutoff({ scope, job, now }: ReadContext): number {
  return scope.full || job.trigger === 'person' ? now() : now() - PROJECT_REQUEST_INTERVAL_MS;
}

/** Whether the registry refused to show a project, for example with `not_found`. */
function isProjectRefused(error: unknown): error is RegistryError {
  return (
    error instanceof RegistryError &&
    ['not_found', 'forbidden', 'invalid', 'bad_request'].includes(error.code)
  );
}
