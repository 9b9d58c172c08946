import { expect, test } from 'vitest';
import type { JobSettlement } from '../../src/inbox/job.js';
import { batchSettlements } from '../../src/sync/worker/settlement-batches.js';

const settlementOf = (id: number): JobSettlement => ({
  claim: { id, claim: id },
  end: { act: 'done', outcome: 'read' },
});

/** Records the batches. Jobs with an odd id are held; a batch with the job `failing` fails. */
function createInbox(failing: number | null = null) {
  const batches: number[][] = [];
  const settleJob = batchSettlements(async settlements => {
    const ids = settlements.map(({ claim }) => claim.id);
    batches.push(ids);
    await Promise.resolve();
    if (failing !== null && ids.includes(failing)) throw new Error('planted');
    return ids.map(id => id % 2 === 1);
  });
  return { batches, settleJob: (id: number) => settleJob(settlementOf(id)) };
}

test('jobs that end at once share a transaction, and each learns whether it was still held', async () => {
  const { batches, settleJob } = createInbox();
  expect(await Promise.all([1, 2, 3].map(settleJob))).toEqual([true, false, true]);
  expect(batches).toEqual([[1, 2, 3]]);
});

test('jobs that end while a batch is written share the next one', async () => {
  const { batches, settleJob } = createInbox();
  const first = settleJob(1);
  await Promise.resolve();
  await Promise.all([first, settleJob(3), settleJob(5)]);
  expect(batches).toEqual([[1], [3, 5]]);
});

test('a job that cannot be settled keeps no other job of its batch from being settled', async () => {
  const { batches, settleJob } = createInbox(2);
  const ended = await Promise.allSettled([1, 2, 3].map(settleJob));
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(batches).toEqual([[1, 2, 3], [1], [2], [3]]);
});
