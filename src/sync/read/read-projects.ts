import type { ProjectAnswer } from '../../mirror/port.js';
import { toProjectAnswer } from '../../mirror/projects.js';
import { RegistryError } from '../../registry/errors.js';
import type { Step } from '../installation/step.js';
import { describeFailure, endsWalk, TROUBLES } from '../outcome.js';
import { countCalls } from './calls.js';

const AT_ONCE = 4;
/** An hour less than a day, so that a schedule of one round a day requests each project in every round. */
const REQUESTED_AGAIN_MS = 23 * 3_600_000;

/**
 * Requests the projects that the organization's rows name: each once a day, or all of them for a person. A refused project
 * is marked as unavailable. A failed project is requested again and stops no other. Writes no sync where no project is due.
 */
export async function readProjects(step: Step): Promise<void> {
  const { mirror, task, job, cause, now, signal } = step;
  const startedAt = now();
  const { options, traffic } = countCalls(signal, now);
  const walk = await mirror.beginProjects({ ...task, trigger: job.trigger, cause, startedAt });
  step.observed.before.set('projects', walk.previousRead);
  // Projects requested by a clock that was ahead are due: no time may pass between this instant and the walk's own.
  const due = await walk.listDue(checkedBefore(step));
  if (due.length === 0) return;

  async function readOne(id: string): Promise<ProjectAnswer> {
    const requestedAt = now();
    try {
      const project = await step.client.token.readProject(id, options);
      return toProjectAnswer(project, { requestedAt, arrivedAt: now() });
    } catch (error) {
      if (!isRefused(error)) throw error;
      return { id, requestedAt, error: error.message };
    }
  }

  const failures: unknown[] = [];
  let troubles = 0;

  /** What came is written, also where one of them failed. */
  async function readSome(ids: readonly string[]): Promise<void> {
    const asked = await Promise.allSettled(ids.map(readOne));
    await walk.write(asked.flatMap(each => (each.status === 'fulfilled' ? [each.value] : [])));
    for (const each of asked) {
      troubles = each.status === 'rejected' ? troubles + 1 : 0;
      if (each.status === 'fulfilled') continue;
      failures.push(each.reason);
      if (signal.aborted || troubles >= TROUBLES || endsWalk(each.reason)) throw each.reason;
    }
  }

  try {
    for (let start = 0; start < due.length; start += AT_ONCE) {
      await readSome(due.slice(start, start + AT_ONCE));
      await step.turn();
    }
    if (failures.length > 0) throw failures[0];
    await walk.finish(traffic());
  } catch (error) {
    const { code, message } = describeFailure(signal.aborted ? signal.reason : error);
    await walk.abandon({ code, message }, traffic());
    throw error;
  }
}

/** Projects last requested before this instant are due. A person has all of them requested. */
function checkedBefore({ wish, job, now }: Step): number {
  return wish.full || job.trigger === 'person' ? now() : now() - REQUESTED_AGAIN_MS;
}

function isRefused(error: unknown): error is RegistryError {
  return (
    error instanceof RegistryError &&
    ['not_found', 'forbidden', 'invalid', 'bad_request'].includes(error.code)
  );
}
