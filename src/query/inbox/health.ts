import type { Reader } from '../../store/contract/reader.js';
import { readBacklog } from './backlog.js';
import { readCauses, sumRejected } from './causes.js';
import { readJobSums, readNewestDelivery } from './deliveries-and-jobs.js';
import { readLife } from './heartbeats.js';
import { count, sql } from '../sql.js';

const DAY_MS = 86_400_000;

export type Activity = Awaited<ReturnType<typeof readActivity>>;

/** What comes in and what is done about it. */
export async function readActivity(reader: Reader, now: number) {
  return await reader.inSnapshot(async snapshot => {
    const { unread, delayed } = await readBacklog(snapshot, now);
    const yesterday = new Date(now - DAY_MS).toISOString();
    const ignored = sql`inbox.deliveries WHERE received_at >= ${yesterday} AND verdict = 'ignored'`;
    return {
      worker: await readLife(snapshot, 'work', now),
      receiver: await readLife(snapshot, 'receive', now),
      jobs: await readJobSums(snapshot, new Date(now).toISOString()),
      /** Since when the oldest delivery waits that no read has answered; null where none does. */
      oldestUnreadAt: unread?.since ?? null,
      /** What waits for longer than it may. */
      delayed,
      /** What was turned away since yesterday. */
      rejectedWebhooks: await sumRejected(snapshot, yesterday),
      newestDeliveryAt: await readNewestDelivery(snapshot),
      /** Since yesterday. */
      ignored: await count(snapshot, ignored),
      /** Why the registry is not asked or does not tell. */
      causes: await readCauses(snapshot, now),
    };
  });
}
