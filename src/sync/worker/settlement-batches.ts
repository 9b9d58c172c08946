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
 * Creates a function that settles a job: it writes to the inbox how the job ended. Jobs that end at about the same time share
 * one transaction. If the transaction fails, each job is settled alone.
 */
export function batchSettlements(settle: InboxPort['settle']): SettleJob {
  let waiting: WaitingSettlement[] = [];

  /** Settles one job of a failed batch. Returns false if another worker has claimed the job. */
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
