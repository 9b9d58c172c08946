import type { Context } from '../context.js';
import type { Gate } from './access.js';
import { codeOf, endsRun } from '../outcome.js';
import type { Resource } from '../plan.js';
import { readResource } from '../read/read-resource.js';
import type { Step } from '../read/step.js';
import type { Run } from '../worker/worker.js';

export interface InterludeOptions {
  readonly gate: Gate;
  readonly run: Run;
  readonly step: Step;
  /** What is neither forbidden nor believed to be. */
  readonly mayAsk: () => Promise<readonly Resource[]>;
}

export interface Interlude {
  /** `reading` is the resource whose read is interrupted. */
  turn(reading?: Resource): Promise<void>;
}

const PACE_MS = 1000;
/** What can be sold now does not wait for the end of a long list. */
const URGENT = ['warehouse', 'reservations'] as const satisfies readonly Resource[];

/** A delivery that comes while a long run is at work is looked at between two pages, once a second at most. */
export function createInterlude(
  { inbox, now }: Context,
  { gate, run, step, mayAsk }: InterludeOptions,
): Interlude {
  let lookedAt = now();
  let checkedAt = now();
  let busy = false;
  const refused = new Set<Resource>();

  async function isAsked(): Promise<boolean> {
    if (busy || now() - checkedAt < PACE_MS) return false;
    checkedAt = now();
    const [asked = false] = await inbox.haveCome(run.job.installationId ?? '', [
      { since: lookedAt, isNew: true },
    ]);
    return asked;
  }

  async function readUrgent(reading: Resource | undefined): Promise<void> {
    lookedAt = now();
    await gate.again();
    const allowed = await mayAsk();
    for (const resource of URGENT) {
      if (resource !== reading && !refused.has(resource) && allowed.includes(resource))
        await readQuietly(resource);
    }
  }

  /** The delivery has a job of its own, which will read this again. */
  async function readQuietly(resource: Resource): Promise<void> {
    try {
      await readResource({ ...step, turn: run.turn }, resource);
    } catch (error) {
      step.signal.throwIfAborted();
      if (endsRun(error)) throw error;
      if (codeOf(error) === 'forbidden') refused.add(resource);
    }
  }

  return {
    async turn(reading) {
      await run.turn();
      if (!(await isAsked())) return;
      busy = true;
      try {
        await readUrgent(reading);
      } finally {
        busy = false;
      }
    },
  };
}
