import { RegistryError } from '../../registry/errors.js';
import { observe } from '../observe.js';
import { describe } from '../outcome.js';
import type { StepContext } from './step.js';

const AT_ONCE = 4;

/**
 * The projects that the organization's rows name, one call each: those never asked for on every look,
 * all of them on a scheduled or full one. One that cannot be read is marked so and fails nobody.
 */
export async function readProjects(context: StepContext): Promise<void> {
  const { mirror, task, trigger, now, signal } = context;
  const startedAt = now();
  const { options, traffic } = observe(signal, now);
  const walk = mirror.beginProjects({ ...task, trigger, startedAt, announced: false });
  const due = walk.due(context.full || trigger === 'schedule' ? startedAt : 0);

  async function readOne(projectId: string): Promise<void> {
    const askedAt = now();
    try {
      const project = await context.open.readProject(projectId, options);
      walk.write(project, { askedAt, arrivedAt: now() });
    } catch (error) {
      if (!isRefused(error)) throw error;
      walk.unavailable(projectId, error.message, askedAt);
    }
  }

  try {
    for (let start = 0; start < due.length; start += AT_ONCE) {
      await Promise.all(due.slice(start, start + AT_ONCE).map(readOne));
      await context.turn();
    }
    walk.finish(traffic());
  } catch (error) {
    const { code, message } = describe(signal.aborted ? signal.reason : error);
    walk.abandon({ code, message }, traffic());
    throw error;
  }
}

function isRefused(error: unknown): error is RegistryError {
  return (
    error instanceof RegistryError &&
    ['not_found', 'forbidden', 'invalid', 'bad_request'].includes(error.code)
  );
}
