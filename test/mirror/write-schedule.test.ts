import { expect, test } from 'vitest';
import type { RowRemoval } from '../../src/mirror/port/rows.js';
import { type ScheduledWrite, WriteSchedule } from '../../src/mirror/list/write-schedule.js';

const COMPLETION = { state: 'complete', fault: null, isInterrupted: false, requests: 1, bytes: 1 } as const;
const EMPTY = { pendingCount: 0, pendingLength: 0, repairCount: 0 };

function createSchedule(initial = EMPTY) {
  const buffer = { ...initial };
  const schedule = new WriteSchedule(buffer);
  /** Performs each write before it takes the next one. */
  const perform = (writes: Iterable<ScheduledWrite>) =>
    Array.from(writes, write => {
      buffer.pendingCount = Math.max(buffer.pendingCount - write.limit, 0);
      return write;
    });
  return { buffer, schedule, perform };
}

test('a single buffered row is written after fifty pages, and then the count starts again', () => {
  const { buffer, schedule, perform } = createSchedule();
  for (let round = 0; round < 2; round += 1) {
    expect(perform(schedule.planWritesAfterPage())).toEqual([]);
    buffer.pendingCount = 1;
    for (let page = 0; page < 49; page += 1) expect(perform(schedule.planWritesAfterPage())).toEqual([]);
    expect(perform(schedule.planWritesAfterPage())).toEqual([{ limit: 800, otherChanges: {} }]);
  }
});

test.each(['planWritesAfterPage', 'planWritesAfterBatch'] as const)(
  '%s yields a write of repairs once they fill a transaction',
  method => {
    const { buffer, schedule, perform } = createSchedule();
    buffer.repairCount = 799;
    expect(perform(schedule[method]())).toEqual([]);
    buffer.repairCount = 800;
    expect(perform(schedule[method]())).toEqual([{ limit: 0, otherChanges: {} }]);
  },
);

test('many removals are spread over several writes, each row once, and the last write ends the sync', () => {
  const removals = Array.from(
    { length: 1_700 },
    (_, version): RowRemoval => ({ version, observedAt: 'then' }),
  );
  const { schedule, perform } = createSchedule({ ...EMPTY, pendingCount: 900 });
  const finalChanges = { removals, removalCount: removals.length, unconfirmedRemovals: null };
  const writes = perform(schedule.planLastWrites(finalChanges, COMPLETION));
  const removalsOf = ({ otherChanges }: ScheduledWrite) => [...(otherChanges.removals ?? [])];
  expect(writes.map(({ limit }) => limit)).toEqual([800, 800, 0, 0, 0, 800]);
  expect(writes.map(write => removalsOf(write).length)).toEqual([0, 0, 800, 800, 100, 0]);
  expect(writes.flatMap(removalsOf)).toEqual(removals);
  const endsSync = writes.map(({ completion }) => completion !== undefined);
  expect(endsSync).toEqual([false, false, false, false, false, true]);
});
