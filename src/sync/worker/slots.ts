import { setImmediate as otherWork } from 'node:timers/promises';
import type PQueue from 'p-queue';

/** A run that has taken this many pages or batches is long, and shares its place after each as many more. */
const SHARE = 50;

const NEWCOMER = { priority: 1 };
const RETURNING = { priority: 0 };

export interface SlotOptions {
  readonly queue: PQueue;
  readonly onLong: () => void;
  readonly othersWait: () => Promise<boolean>;
}

/**
 * A run holds one place of the queue. A long one gives it back for a moment while others wait:
 * a few huge organizations cannot keep all places from the small ones.
 */
export async function takeSlot({ queue, onLong, othersWait }: SlotOptions) {
  let steps = 0;
  let leave = await enter(queue, NEWCOMER);
  return {
    /** To be awaited between resources and after every page: all else that the process does goes first. A long run lets those that wait go first too. */
    async turn(): Promise<void> {
      steps += 1;
      await otherWork();
      if (steps % SHARE !== 0) return;
      if (steps === SHARE) onLong();
      if (!(await othersWait())) return;
      leave();
      leave = await enter(queue, RETURNING);
    },
    leave: () => leave(),
  };
}

function enter(queue: PQueue, options: { readonly priority: number }): Promise<() => void> {
  return new Promise(entered => {
    const occupy = () =>
      new Promise<void>(left => {
        entered(left);
      });
    void queue.add(occupy, options);
  });
}
