import type { JobSettlement } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import { coalesce } from '../../text/coalesce.js';

/** Settles one job. Resolves to false if another worker has claimed the job. */
export type SettleJob = (settlement: JobSettlement) => Promise<boolean>;

interface WaitingSettlement {
  readonly settlement: JobSettlement;
  readonly resolve: (isHeld: Promise<boolean> | boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Settles jobs in batches. Jobs that end at once, or while a batch is being written, share one transaction. If a batch fails,
 * each of its jobs is settled alone.
 */
export function batchSettlements(settle: InboxPort['settle']): SettleJob {
  let waiting: WaitingSettlement[] = [];

  async function settleAlone(settlement: JobSettlement): Promise<boolean> {
    const [isHeld = false] = await settle([settlement]);
    return isHeld;
  }

  const settleWaiting = coalesce(async () => {
    const batch = waiting;
    waiting = [];
    try {
      const held = await settle(batch.map(({ settlement }) => settlement));
      for (const [index, { resolve }] of batch.entries()) resolve(held[index] ?? false);
    } catch (error) {
      if (batch.length === 1) for (const { reject } of batch) reject(error);
      else for (const { settlement, resolve } of batch) resolve(settleAlone(settlement));
    }
  });

  return settlement =>
    new Promise((resolve, reject) => {
      waiting.push({ settlement, resolve, reject });
      void settleWaiting();
    });
}
