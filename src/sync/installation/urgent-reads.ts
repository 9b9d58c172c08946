import type { Gate } from './gate.js';
import type { Step } from './step.js';
import { codeOf, endsJob } from '../outcome.js';
import type { Resource } from '../plan.js';

export interface UrgentReadsOptions {
  readonly gate: Gate;
  /** What is neither without permission nor believed to be. */
  readonly mayAsk: () => Promise<readonly Resource[]>;
  /** Without urgent reads between its pages. */
  readonly read: (resource: Resource) => Promise<void>;
}

const PACE_MS = 1000;
/** What is available now does not wait for the end of a long list. */
const URGENT = ['warehouse', 'reservations'] as const satisfies readonly Resource[];

/** A delivery that comes while a long run is at work is looked at between two pages, once a second at most. */
export function createUrgentReads(
  step: Pick<Step, 'inbox' | 'now' | 'installationId' | 'signal' | 'turn'>,
  { gate, mayAsk, read }: UrgentReadsOptions,
) {
  const { inbox, now, installationId, signal } = step;
  let lookedAt = now();
  let checkedAt = now();
  let busy = false;
  const refused = new Set<Resource>();

  async function isAsked(): Promise<boolean> {
    if (busy || now() - checkedAt < PACE_MS) return false;
    checkedAt = now();
    const [asked = false] = await inbox.haveDeliveriesArrived(installationId, [
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
      await read(resource);
    } catch (error) {
      signal.throwIfAborted();
      if (endsJob(error)) throw error;
      if (codeOf(error) === 'forbidden') refused.add(resource);
    }
  }

  return {
    /** `reading` is the resource whose read is interrupted. */
    async turn(reading?: Resource): Promise<void> {
      await step.turn();
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
