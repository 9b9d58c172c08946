import type PQueue from 'p-queue';

/** A long run is asked to share after this many pages or batches. */
const TURN = 50;

export interface Slot {
  /** To be awaited between resources and after every page. A long run lets those that wait go first. */
  turn(): Promise<void>;
  leave(): void;
}

/**
 * A run holds one place of the queue, and gives it back for a moment after every `TURN` steps while others wait:
 * a few huge organizations cannot keep all places from the small ones.
 */
export async function takeSlot(queue: PQueue, othersWait: () => boolean): Promise<Slot> {
  let steps = 0;
  let leave = await enter(queue);
  return {
    async turn() {
      steps += 1;
      if (steps < TURN || !othersWait()) return;
      steps = 0;
      leave();
      leave = await enter(queue);
    },
    leave: () => leave(),
  };
}

function enter(queue: PQueue): Promise<() => void> {
  return new Promise(entered => {
    void queue.add(
      () =>
        new Promise<void>(left => {
          entered(left);
        }),
    );
  });
}
