import { setImmediate as waitForEventLoop } from 'node:timers/promises';
import type PQueue from 'p-queue';

/** After each group of this many yields, a run offers its slot to waiting runs. After the first group, it is a long run. */
const YIELDS_PER_SHARE = 50;

const NEW_RUN = { priority: 1 };
const RESUMED_RUN = { priority: 0 };

/** The queue that a run needs a slot of, and how the run shares its slot. */
export interface SlotOptions {
  readonly queue: PQueue;
  /** Called once, when the run becomes long. */
  readonly onLongRun: () => void;
  /** Whether other runs wait for a slot of the queue. */
  readonly areRunsWaiting: () => Promise<boolean>;
}

/**
 * Waits for a free slot of the queue. Returns `release`, which frees the slot, and `yieldTurn`, which lends the slot to
 * waiting jobs.
 */
export async function acquireSlot({ queue, onLongRun, areRunsWaiting }: SlotOptions) {
  let yields = 0;
  let releaseSlot = await occupySlot(queue, NEW_RUN);
  return {
    /**
     * Lets other code of the process run. Every 50th call also gives the slot to a waiting job, if there is one, and waits
     * for a slot.
     */
    async yieldTurn(): Promise<void> {
      yields += 1;
      await waitForEventLoop();
      if (yields % YIELDS_PER_SHARE !== 0) return;
      // A few huge organizations must not occupy all slots while small ones wait.
      if (yields === YIELDS_PER_SHARE) onLongRun();
      if (!(await areRunsWaiting())) return;
      releaseSlot();
      releaseSlot = await occupySlot(queue, RESUMED_RUN);
    },
    release: () => releaseSlot(),
  };
}

/** Waits for a free slot of the queue and occupies it. Returns the function that releases the slot. */
function occupySlot(queue: PQueue, options: { readonly priority: number }): Promise<() => void> {
  return new Promise(resolveWithRelease => {
    const holdSlot = () =>
      new Promise<void>(release => {
        resolveWithRelease(release);
      });
    void queue.add(holdSlot, options);
  });
}
